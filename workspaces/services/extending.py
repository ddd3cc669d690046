"""
More time: for a machine that runs, or for data that are kept.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from djmoney.money import Money

import formats
from billing import services as billing
from catalog.names import plan_name
from workspaces.models import Code, State, Workspace
from workspaces.models.specification import MAX_HOURS
from workspaces.services.holding import cost_at
from workspaces.services.moves import lock_workspace, record_note

if TYPE_CHECKING:
    from marketplace.models import User


class CannotExtend(Exception):
    """
    No more time can be bought; the message says why, and what to do.
    """


CANNOT_EXTEND = (
    CannotExtend,
    billing.Busy,
    billing.InsufficientFunds,
    billing.MeterEnded,
    billing.WalletFrozen,
)


@billing.retry_conflicts
@transaction.atomic
def extend_workspace(
    *,
    workspace_id: UUID,
    by: timedelta,
    seen_end: datetime,
    actor: "User",
    at: datetime,
) -> Workspace:
    """
    Let a running workspace run `by` longer, or keep the data of a stopped one longer.

    `seen_end` is the end that was seen when it was asked for, so that a request that
    comes twice extends once.

    :raises CannotExtend: if it has ended, was extended meanwhile, or would last too long
    :raises billing.services.InsufficientFunds: if the wallet cannot cover it
    """
    workspace = lock_workspace(workspace_id)
    end = _end_of(workspace)
    if end == seen_end + by:
        return Workspace.objects.with_names().get(pk=workspace_id)
    _check(workspace, end=end, seen_end=seen_end, by=by, at=at)
    held = _extend_meters(workspace, by=by, seen_end=seen_end, at=at)
    is_kept = workspace.state == State.STOPPED
    return record_note(
        workspace,
        Code.EXTENDED,
        at=at,
        actor=actor,
        held=held.amount,
        changes={"kept_until": end + by} if is_kept else {},
    )


@billing.retry_conflicts
@transaction.atomic
def switch_auto_extend(
    *, workspace_id: UUID, is_on: bool, actor: "User | None", at: datetime
) -> Workspace:
    """
    Switch on or off that a running workspace runs on while its wallet covers it.

    :raises CannotExtend: if it does not run
    """
    workspace = lock_workspace(workspace_id)
    if workspace.state != State.RUNNING:
        raise CannotExtend(_not_running(workspace))
    is_on_now = billing.hold_of(hold_id=workspace.hold_id).is_extended_automatically
    if is_on_now == is_on:
        return Workspace.objects.with_names().get(pk=workspace_id)
    billing.set_auto_extend(hold_id=workspace.hold_id, is_on=is_on)
    code = Code.AUTO_ON if is_on else Code.AUTO_OFF
    return record_note(workspace, code, at=at, actor=actor)


def _extend_meters(
    workspace: Workspace, *, by: timedelta, seen_end: datetime, at: datetime
) -> Money:
    """
    Let what is charged for it be charged longer, and return what is held on top.
    """
    before = billing.hold_of(hold_id=workspace.hold_id).amount
    if workspace.state == State.RUNNING or workspace.storage_meter_id:
        billing.extend_running(
            hold_id=workspace.hold_id,
            by=by,
            key=f"workspace:{workspace.pk}:extend:{seen_end.isoformat()}",
            at=at,
            reserved=_held_to_go_on(workspace),
        )
    return billing.hold_of(hold_id=workspace.hold_id).amount - before


def _held_to_go_on(workspace: Workspace) -> Money | None:
    """
    Return what a stopped workspace that waits for a node has set aside for it.
    """
    if not workspace.is_resuming:
        return None
    return cost_at(workspace, workspace.limit_price)


def _end_of(workspace: Workspace) -> datetime:
    if workspace.state == State.RUNNING:
        assert workspace.compute_meter_id is not None
        return billing.meter_for_update(meter_id=workspace.compute_meter_id).ends_at
    if workspace.state == State.STOPPED:
        assert workspace.kept_until is not None
        return workspace.kept_until
    raise CannotExtend(_not_running(workspace))


def _not_running(workspace: Workspace) -> str:
    return _(
        "Workspace %(code)s is “%(state)s”: there is nothing to extend. Ask for a new"
        " one with the same settings."
    ) % {"code": workspace.code, "state": State(workspace.state).label}


def _check(
    workspace: Workspace,
    *,
    end: datetime,
    seen_end: datetime,
    by: timedelta,
    at: datetime,
) -> None:
    if end <= at:
        raise CannotExtend(_("Its time is over, so it cannot be extended any more."))
    if end != seen_end:
        raise CannotExtend(
            _("It was extended meanwhile. Look at its new end, and ask again.")
        )
    if workspace.state == State.RUNNING:
        if workspace.time_paid() + by > timedelta(hours=MAX_HOURS):
            raise CannotExtend(_too_many_hours())
        return
    assert workspace.stopped_at is not None
    most = workspace.storage_plan.kept_days_after
    if end + by > workspace.stopped_at + timedelta(days=most):
        raise CannotExtend(
            ngettext(
                "“%(plan)s” keeps data for %(days)s day at most. Copy what you need, or"
                " let the workspace go on.",
                "“%(plan)s” keeps data for %(days)s days at most. Copy what you need, or"
                " let the workspace go on.",
                most,
            )
            % {"plan": plan_name(workspace.storage_plan), "days": _number(most)}
        )


def _too_many_hours() -> str:
    return _(
        "A workspace runs for %(hours)s hours at most. Keep its data and let it go on"
        " afterwards."
    ) % {"hours": _number(MAX_HOURS)}


def _number(value: int) -> str:
    return formats.number(value, formats.language())
