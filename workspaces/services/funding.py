"""
Money is set aside for a request, and comes back if nothing was started with it.
"""

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from billing import services as billing
from catalog.costs import HOUR
from workspaces.models import Quote, State, Workspace, WorkspaceEvent
from workspaces.services.giving_back import close_hold, free_node
from workspaces.services.guarding import TooMuch, check_limits
from workspaces.services.moves import (
    IllegalMove,
    check_move,
    lock_workspace,
    record_move,
)
from workspaces.services.resuming import ask_to_go_on

if TYPE_CHECKING:
    from marketplace.models import User


class QuoteExpired(Exception):
    """
    The price is no longer frozen; a new quote has to be asked for.
    """

    def __init__(self) -> None:
        super().__init__(
            _(
                "This quote has expired, so its price is no longer certain. Nothing was"
                " held. Ask for a new quote: everything you entered is kept."
            )
        )


CANNOT_FUND = (
    IllegalMove,
    QuoteExpired,
    TooMuch,
    billing.Busy,
    billing.InsufficientFunds,
    billing.NoSuchWallet,
    billing.WalletFrozen,
)


@billing.retry_conflicts
@transaction.atomic
def fund_workspace(*, user: "User", quote_id: UUID, at: datetime) -> Workspace:
    """
    Hold what the quote says it costs at most, and return the funded workspace.

    A quote becomes one workspace and one hold, however often and from wherever it is
    funded: every later call returns the first one's workspace, even after the quote
    has expired. The quote of a resume lets its stopped workspace go on.

    :raises Quote.DoesNotExist: if the user has no such quote
    :raises QuoteExpired: if the quote was not funded within its 15 minutes
    :raises IllegalMove: if the workspace that would go on is not stopped any more
    :raises TooMuch: if the account has as many workspaces as it may
    :raises billing.services.InsufficientFunds: if the wallet cannot cover the hold
    """
    quotes = Quote.objects.select_for_update(of=["self"]).select_related("user")
    quote = quotes.get(pk=quote_id, user=user)
    if quote.used_at:
        return Workspace.objects.with_names().get(pk=quote.workspace_id)
    if quote.is_expired(at):
        raise QuoteExpired
    check_limits(quote.user, at=at)
    if quote.resumes_id is None:
        workspace = _fund(quote, at=at)
    else:
        workspace = ask_to_go_on(quote, at=at)
    quote.used_at = at
    quote.save(update_fields=["used_at"])
    return Workspace.objects.with_names().get(pk=workspace.pk)


def _fund(quote: Quote, *, at: datetime) -> Workspace:
    hold = billing.place_hold(
        user_id=quote.user_id,
        amount=quote.hold_amount,
        reference=f"workspace:{quote.pk}",
        key=f"workspace:{quote.pk}:hold",
        at=at,
    )
    workspace = Workspace.objects.create(
        id=quote.pk,
        quote=quote,
        state=State.FUNDED,
        hold_id=hold.id,
        funded_at=at,
        seconds_left=quote.hours * HOUR,
        **quote.terms(),
    )
    WorkspaceEvent.objects.create(
        workspace=workspace,
        state=State.FUNDED,
        actor_id=quote.user_id,
        quote=quote,
        held=quote.hold_amount.amount,
        at=at,
    )
    return workspace


@billing.retry_conflicts
@transaction.atomic
def cancel_workspace(
    *, workspace_id: UUID, actor: "User | None", at: datetime, reason: str = ""
) -> Workspace:
    """
    Give up a request before it has started; the whole hold comes back at once.

    :raises IllegalMove: if it has ever started, or is over already
    """
    return _give_back(workspace_id, State.CANCELLED, actor=actor, at=at, reason=reason)


@billing.retry_conflicts
@transaction.atomic
def expire_workspace(*, workspace_id: UUID, at: datetime) -> Workspace:
    """
    Give up a request whose start deadline is over; the whole hold comes back at once.

    :raises IllegalMove: if it found a node before, or is over already
    """
    return _give_back(workspace_id, State.EXPIRED, actor=None, at=at, reason="")


def _give_back(
    workspace_id: UUID,
    to: State,
    *,
    actor: "User | None",
    at: datetime,
    reason: str,
) -> Workspace:
    workspace = lock_workspace(workspace_id)
    check_move(workspace, to)
    if workspace.has_run:
        raise IllegalMove(workspace, to)
    free_node(workspace, at=at)
    returned = close_hold(workspace, at=at)
    return record_move(
        workspace, to, at=at, actor=actor, reason=reason, returned=returned
    )
