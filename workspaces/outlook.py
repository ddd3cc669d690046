"""
What a workspace has cost, and what stopping or extending it now would mean; pure.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from djmoney.money import Money

from billing.services import HoldInfo, MeterInfo
from catalog import costs
from workspaces.models import Metered, Workspace


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """
    The two ways to stop: `kept` is what the paid days of kept data cost, and
    `kept_per_month` what thirty days would.
    """

    spent: Money
    kept: Money
    kept_per_month: Money
    back_if_ended: Money
    back_if_kept: Money


def if_stopped(
    workspace: Workspace,
    *,
    hold: HoldInfo,
    meters: Iterable[MeterInfo],
    at: datetime,
) -> Outlook:
    """
    Return what stopping at `at` would mean.
    """
    at = at.replace(microsecond=0)
    nothing = Money(0, workspace.currency)
    running = [meter for meter in meters if meter.stopped_at is None]
    unbilled = sum((_unbilled(meter, at) for meter in running), nothing)
    kept = _kept(workspace, running, at)
    left = hold.remaining - unbilled
    return Outlook(
        spent=hold.captured + unbilled,
        kept=kept,
        kept_per_month=_storage(workspace, timedelta(days=30)),
        back_if_ended=left,
        back_if_kept=left - kept,
    )


def cost_of_longer(
    meters: Iterable[MeterInfo], *, hold: HoldInfo, by: timedelta
) -> Money:
    """
    Return what has to be set aside to let every running meter end `by` later.
    """
    nothing = hold.amount * 0
    running = [meter for meter in meters if meter.stopped_at is None]
    needed = sum(
        (
            cost_until(meter, meter.ends_at + by) - meter.billed_amount
            for meter in running
        ),
        nothing,
    )
    return max(needed - hold.remaining, nothing)


def cost_until(meter: MeterInfo, end: datetime) -> Money:
    """
    Return what the meter costs from its start to `end`, rounded once, as it is billed.
    """
    seconds = max(int((end - meter.started_at).total_seconds()), 0)
    hours = Decimal(seconds) / costs.HOUR
    if meter.name == Metered.COMPUTE:
        return costs.cost_window(
            hours=hours, gpus=int(meter.units), rate=meter.rate
        ).compute
    return costs.storage_cost(gb=meter.units, monthly_rate=meter.rate, hours=hours)


def _unbilled(meter: MeterInfo, at: datetime) -> Money:
    end = max(min(at, meter.ends_at), meter.billed_until)
    return cost_until(meter, end) - meter.billed_amount


def _kept(workspace: Workspace, running: Iterable[MeterInfo], at: datetime) -> Money:
    """
    Return what keeping the data costs: the storage meter, if one runs, goes on.
    """
    time = timedelta(days=workspace.kept_days)
    for meter in running:
        if meter.name == Metered.STORAGE:
            end = min(at, meter.ends_at)
            return cost_until(meter, end + time) - cost_until(meter, end)
    return _storage(workspace, time)


def _storage(workspace: Workspace, time: timedelta) -> Money:
    return costs.storage_cost(
        gb=workspace.storage_gb,
        monthly_rate=workspace.quote.storage_rate,
        hours=Decimal(int(time.total_seconds())) / costs.HOUR,
    )
