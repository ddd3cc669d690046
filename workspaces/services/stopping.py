"""
From a machine that runs to the last byte deleted: one transaction for each move.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing import services as billing
from workspaces.models import Code, Metered, State, Workspace
from workspaces.services.giving_back import close_hold, free_node, release_above
from workspaces.services.holding import hold_again, kept_time
from workspaces.services.metering import storage_left, switch_meters
from workspaces.services.moves import (
    IllegalMove,
    check_move,
    lock_workspace,
    record_move,
)

if TYPE_CHECKING:
    from marketplace.models import User


class NothingToKeep(Exception):
    """
    The data should be kept, but no days were paid for.
    """

    def __init__(self) -> None:
        super().__init__(
            _(
                "No storage after the end was paid for, so the data cannot be kept."
                " Copy what you need, then end the workspace."
            )
        )


class StillPaid(Exception):
    """
    The time of a workspace is not over: it was extended meanwhile.
    """


@billing.retry_conflicts
@transaction.atomic
def stop_workspace(
    *,
    workspace_id: UUID,
    actor: "User | None",
    at: datetime,
    keep_data: bool,
    reason: str = "",
) -> Workspace:
    """
    Give the GPU back, bill to the second, and return what is no longer needed.

    With `keep_data` the storage is kept for the days that were paid for; without, the
    workspace has ended and the whole rest of the hold comes back. A workspace that
    should have stopped before `at` stopped then, its data stayed until `at`. One that was interrupted no longer
    waits for another node.

    :raises IllegalMove: if it does not run and was not interrupted
    :raises NothingToKeep: if the data are to be kept but no days were paid for
    """
    workspace = lock_workspace(workspace_id)
    to = State.STOPPED if keep_data else State.ENDED
    check_move(workspace, to)
    if not workspace.can_be_stopped:
        raise IllegalMove(workspace, to)
    return _stop(workspace, to, at=at, actor=actor, reason=reason)


@billing.retry_conflicts
@transaction.atomic
def end_workspace(*, workspace_id: UUID, at: datetime) -> Workspace:
    """
    Stop a workspace whose paid time is over; its data are kept if that was paid for.

    :raises IllegalMove: if it does not run
    :raises StillPaid: if its time was extended meanwhile
    """
    workspace = lock_workspace(workspace_id)
    if workspace.state != State.RUNNING:
        raise IllegalMove(workspace, State.ENDED)
    if _end_of(workspace) > at:
        raise StillPaid
    return _end(workspace, at=at)


@billing.retry_conflicts
@transaction.atomic
def interrupt_workspace(
    *,
    workspace_id: UUID,
    code: Code,
    at: datetime,
    actor: "User | None" = None,
    reason: str = "",
    is_withdrawn: bool = False,
) -> Workspace:
    """
    Note that the supplier's side broke off: the hour that it broke is free.

    The request goes back into the order book with its place and its limit, for the
    time that was not billed. A node that is withdrawn is not rented out again.

    :raises IllegalMove: if it does not run
    """
    workspace = lock_workspace(workspace_id)
    if workspace.state != State.RUNNING:
        raise IllegalMove(workspace, State.QUEUED)
    if _end_of(workspace) <= at:
        return _end(workspace, at=at)
    at = at.replace(microsecond=0)
    free_node(workspace, at=at, is_withdrawn=is_withdrawn)
    changes = switch_meters(workspace, State.QUEUED, at=at, is_broken_hour_free=True)
    workspace.seconds_left = changes["seconds_left"]
    held, limited = hold_again(workspace, besides=Money(0, workspace.currency), at=at)
    billing.set_auto_extend(hold_id=workspace.hold_id, is_on=False)
    return record_move(
        workspace,
        State.QUEUED,
        at=at,
        code=code,
        actor=actor,
        reason=reason,
        held=held,
        **_off_the_node(),
        start_deadline=None,
        **{**changes, **limited},
    )


def _end(workspace: Workspace, *, at: datetime) -> Workspace:
    """
    Stop it because its paid time is over; its data are kept if that was paid for.
    """
    to = State.STOPPED if workspace.kept_days else State.ENDED
    return _stop(workspace, to, at=at)


def _end_of(workspace: Workspace) -> datetime:
    """
    Return until when it is paid, which nothing changes before this transaction ends.
    """
    assert workspace.compute_meter_id is not None
    meter = billing.meter_for_update(meter_id=workspace.compute_meter_id)
    return meter.ends_at


def _off_the_node() -> dict[str, Any]:
    return {
        "offer_id": None,
        "hourly_amount": None,
        "provisioning_at": None,
        "address": "",
        "host_key": "",
    }


def _stop(
    workspace: Workspace,
    to: State,
    *,
    at: datetime,
    actor: "User | None" = None,
    reason: str = "",
) -> Workspace:
    is_kept = to == State.STOPPED
    if is_kept and not workspace.kept_days:
        raise NothingToKeep
    stopped_at = at.replace(microsecond=0)
    if workspace.state == State.RUNNING:
        stopped_at = min(stopped_at, _end_of(workspace))
    kept_until = stopped_at + kept_time(workspace)
    free_node(workspace, at=at)
    if not is_kept and workspace.storage_meter_id is not None:
        # Even if its time was over before: the data were there, and may be billed.
        billing.stop_meter(meter_id=workspace.storage_meter_id, at=at)
    changes = switch_meters(
        workspace, to, at=stopped_at, ends={Metered.STORAGE: kept_until}
    )
    if is_kept:
        meter_id = changes.get("storage_meter_id", workspace.storage_meter_id)
        keep = storage_left(meter_id, workspace.currency)
        billing.set_auto_extend(hold_id=workspace.hold_id, is_on=False)
        returned = release_above(workspace, keep=keep, at=at)
    else:
        returned = close_hold(workspace, at=at)
    return record_move(
        workspace,
        to,
        at=stopped_at,
        actor=actor,
        reason=reason,
        returned=returned,
        stopped_at=stopped_at,
        kept_until=kept_until if is_kept else None,
        **{**changes, "seconds_left": 0},
    )


@billing.retry_conflicts
@transaction.atomic
def delete_data(*, workspace_id: UUID, actor: "User | None", at: datetime) -> Workspace:
    """
    Delete the kept data; what was held for days that are not used comes back.

    :raises IllegalMove: if no data are kept
    """
    workspace = lock_workspace(workspace_id)
    check_move(workspace, State.DELETED)
    assert workspace.kept_until is not None
    deleted_at = min(at.replace(microsecond=0), workspace.kept_until)
    meters = switch_meters(workspace, State.DELETED, at=deleted_at)
    returned = close_hold(workspace, at=at)
    return record_move(
        workspace,
        State.DELETED,
        at=deleted_at,
        actor=actor,
        returned=returned,
        resume_asked_at=None,
        **meters,
    )
