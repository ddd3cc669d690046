"""
A stopped workspace goes on: on another node, at a price that is agreed anew.

While it waits in the order book it stays stopped: its data are kept and paid for. Its
storage keeps the price per GB-month that it was first quoted.
"""

from dataclasses import dataclass, fields, replace
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction

from billing import services as billing
from catalog.costs import HOUR
from catalog.models import GpuModel
from workspaces.models import Code, Quote, State, Workspace
from workspaces.services.failing import stop_again
from workspaces.services.giving_back import free_node, release_above
from workspaces.services.metering import storage_left
from workspaces.services.moves import IllegalMove, lock_workspace, record_note
from workspaces.services.quotes import WantedWorkspace, make_quote, wanted_of

if TYPE_CHECKING:
    from marketplace.models import User


@dataclass(frozen=True, kw_only=True)
class WantedResume:
    """
    What may be another one when a stopped workspace goes on.

    `wanted_limit` is what one GPU may cost an hour; None means the best ask.
    """

    gpu: GpuModel
    gpus: int
    regions: list[str]
    hours: int
    kept_days: int
    wanted_limit: Decimal | None


@billing.retry_conflicts
@transaction.atomic
def quote_resume(
    *, user: "User", workspace_id: UUID, wanted: WantedResume, at: datetime
) -> Quote:
    """
    Price what it costs to let a stopped workspace go on, and freeze that.

    :raises Workspace.DoesNotExist: if the user has no such workspace
    :raises IllegalMove: if it is not stopped, or waits to go on already
    :raises CannotQuote: as `quote_workspace`
    """
    workspace = Workspace.objects.with_names().get(pk=workspace_id, user=user)
    _check_stopped(workspace)
    everything = wanted_after(workspace.quote, wanted)
    return make_quote(user=user, wanted=everything, resumes=workspace, at=at)


def wanted_after(quote: Quote, wanted: WantedResume) -> WantedWorkspace:
    """
    Return the request of an earlier quote with what is another one now.
    """
    return replace(
        wanted_of(quote),
        start_deadline=None,
        **{field.name: getattr(wanted, field.name) for field in fields(wanted)},
    )


def ask_to_go_on(quote: Quote, *, at: datetime) -> Workspace:
    """
    Hold what the quote of a resume says, and put the workspace into the order book.

    :raises IllegalMove: if it is not stopped, or waits to go on already
    :raises billing.services.InsufficientFunds: if the wallet cannot cover it
    """
    assert quote.resumes_id is not None
    workspace = lock_workspace(quote.resumes_id)
    _check_stopped(workspace)
    billing.extend_hold(
        hold_id=workspace.hold_id,
        amount=quote.hold_amount,
        key=f"workspace:{quote.pk}:hold",
        at=at,
    )
    return record_note(
        workspace,
        Code.RESUME_ASKED,
        at=at,
        actor=quote.user,
        quote=quote,
        held=quote.hold_amount.amount,
        changes={
            **quote.terms(),
            "quote": quote,
            "resume_asked_at": at,
            "funded_at": at,
            "seconds_left": quote.hours * HOUR,
            "hourly_amount": None,
        },
    )


@billing.retry_conflicts
@transaction.atomic
def give_up_resume(
    *, workspace_id: UUID, actor: "User | None", at: datetime, reason: str = ""
) -> Workspace:
    """
    Take a stopped workspace out of the order book again; what was held for it is back.

    A start that is under way is given up; the data are kept for as long as before.

    :raises IllegalMove: if it does not wait to go on
    """
    workspace = lock_workspace(workspace_id)
    if not workspace.is_resuming:
        raise IllegalMove(workspace, State.STOPPED)
    if workspace.state != State.STOPPED:
        free_node(workspace, at=at)
        return stop_again(
            workspace, code=Code.RESUME_GIVEN_UP, actor=actor, reason=reason, at=at
        )
    keep = storage_left(workspace.storage_meter_id, workspace.currency)
    returned = release_above(workspace, keep=keep, at=at)
    return record_note(
        workspace,
        Code.RESUME_GIVEN_UP,
        at=at,
        actor=actor,
        reason=reason,
        returned=returned,
        changes={"resume_asked_at": None, "avoided_offers": []},
    )


def _check_stopped(workspace: Workspace) -> None:
    if not workspace.can_be_resumed:
        raise IllegalMove(workspace, State.MATCHED)
