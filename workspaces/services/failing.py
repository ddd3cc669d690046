"""
Starts that do not come about: whatever the reason, they cost nothing.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from djmoney.money import Money

from billing import services as billing
from workspaces.models import Code, Metered, State, Workspace
from workspaces.services.giving_back import close_hold, free_node, release_above
from workspaces.services.holding import cost_of_keeping, hold_again
from workspaces.services.metering import switch_meters
from workspaces.services.moves import (
    IllegalMove,
    check_move,
    lock_workspace,
    record_move,
)
from workspaces.states import STARTING

if TYPE_CHECKING:
    from marketplace.models import User


@billing.retry_conflicts
@transaction.atomic
def fail_workspace(
    *, workspace_id: UUID, reason: str, at: datetime, actor: "User | None" = None
) -> Workspace:
    """
    Give up a start that did not work: it costs nothing and the node goes back.

    If the renter chose that it is tried again, or if it was interrupted before, the
    request goes back into the order book and takes another offer. Otherwise the whole
    hold comes back, or the data of a stopped workspace are kept as before.

    :raises IllegalMove: if the workspace is not being started
    """
    workspace = lock_workspace(workspace_id)
    _check_starting(workspace, State.FAILED)
    free_node(workspace, at=at)
    told: dict[str, Any] = {"at": at, "actor": actor, "reason": reason}
    if workspace.is_start_retried or workspace.is_interrupted:
        return _put_back(workspace, Code.START_FAILED, **told)
    if workspace.is_resuming:
        return stop_again(workspace, code=Code.START_FAILED, **told)
    returned = close_hold(workspace, at=at)
    return record_move(workspace, State.FAILED, returned=returned, **told)


@billing.retry_conflicts
@transaction.atomic
def put_back_late_start(*, workspace_id: UUID, at: datetime) -> Workspace:
    """
    Put a request back into the order book because nobody confirmed its start in time.

    :raises IllegalMove: if the workspace is not being started
    """
    workspace = lock_workspace(workspace_id)
    _check_starting(workspace, State.QUEUED)
    free_node(workspace, at=at)
    return _put_back(workspace, Code.START_LATE, at=at)


def _check_starting(workspace: Workspace, to: State) -> None:
    if workspace.state not in STARTING:
        raise IllegalMove(workspace, to)
    check_move(workspace, to)


def _put_back(
    workspace: Workspace, code: Code, *, at: datetime, **told: Any
) -> Workspace:
    """
    Let it wait for another offer, with its limit and its place in the queue.
    """
    assert workspace.offer_id is not None
    avoided = sorted({*workspace.avoided_offers, workspace.offer_id})
    if workspace.is_resuming:
        return stop_again(workspace, code=code, at=at, avoided_offers=avoided, **told)
    held, changes = hold_again(workspace, besides=Money(0, workspace.currency), at=at)
    return record_move(
        workspace,
        State.QUEUED,
        at=at,
        code=code,
        held=held,
        avoided_offers=avoided,
        offer_id=None,
        hourly_amount=None,
        provisioning_at=None,
        **told,
        **changes,
    )


def stop_again(
    workspace: Workspace,
    *,
    at: datetime,
    avoided_offers: list[int] | None = None,
    **told: Any,
) -> Workspace:
    """
    Keep the data of a workspace that did not go on, for as long as was left.

    With `avoided_offers` it goes on waiting in the order book, for other offers.
    """
    at = at.replace(microsecond=0)
    kept_until = at + _days_left_at_match(workspace)
    meters = switch_meters(
        workspace, State.STOPPED, at=at, ends={Metered.STORAGE: kept_until}
    )
    keep = cost_of_keeping(workspace, kept_until - at)
    changes: dict[str, Any]
    if avoided_offers is None:
        held, returned = Decimal(0), release_above(workspace, keep=keep, at=at)
        changes = {"resume_asked_at": None, "avoided_offers": []}
    else:
        held, changes = hold_again(workspace, besides=keep, at=at)
        returned = Decimal(0)
        changes["avoided_offers"] = avoided_offers
    return record_move(
        workspace,
        State.STOPPED,
        at=at,
        held=held,
        returned=returned,
        kept_until=kept_until,
        offer_id=workspace.data_offer_id,
        hourly_amount=None,
        provisioning_at=None,
        **told,
        **meters,
        **changes,
    )


def _days_left_at_match(workspace: Workspace) -> timedelta:
    """
    Return for how long its data were still paid for when it got its node.
    """
    assert workspace.kept_until is not None
    matched = workspace.events.filter(state=State.MATCHED).latest("pk")
    return max(workspace.kept_until - matched.at, timedelta(hours=1))
