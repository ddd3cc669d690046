"""
Meters follow the state: those that its rule names run, all others stand still.
"""

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from djmoney.money import Money

from billing import services as billing
from catalog import costs
from catalog.costs import HOUR, MONTH
from workspaces.models import Metered, State, Workspace
from workspaces.states import RULES

COLUMNS = {Metered.COMPUTE: "compute_meter_id", Metered.STORAGE: "storage_meter_id"}


def switch_meters(
    workspace: Workspace,
    to: State,
    *,
    at: datetime,
    ends: dict[Metered, datetime] | None = None,
    is_broken_hour_free: bool = False,
) -> dict[str, Any]:
    """
    Stop what `to` does not charge, start what it does, let run on what both charge.

    `ends` says when each meter that runs then ends by itself. What stops is billed to
    the second of `at`, or up to the hour that an interruption broke. Returns the
    changed columns of the workspace; it is the caller who moves it, in the same
    transaction.
    """
    wanted = RULES[to].meters
    changes: dict[str, Any] = {}
    for kind, column in COLUMNS.items():
        meter_id = getattr(workspace, column)
        if kind not in wanted:
            if meter_id is not None:
                meter = billing.stop_meter(
                    meter_id=meter_id, at=at, is_broken_hour_free=is_broken_hour_free
                )
                changes[column] = None
                if kind == Metered.COMPUTE:
                    changes |= _time_run(workspace, meter)
        elif meter_id is not None:
            assert ends is not None
            billing.shorten_meter(meter_id=meter_id, ends_at=ends[kind])
        elif kind not in RULES[State(workspace.state)].meters:
            assert ends is not None
            changes[column] = _start(workspace, kind, to, at=at, ends_at=ends[kind])
    return changes


def _time_run(workspace: Workspace, meter: billing.MeterInfo) -> dict[str, Any]:
    """
    Return how long it has now run in all, and how much of its time was not billed.
    """
    run = meter.billed_until - meter.started_at
    unbilled = meter.ends_at - meter.billed_until
    return {
        "seconds_run": workspace.seconds_run + int(run.total_seconds()),
        "seconds_left": int(unbilled.total_seconds()),
    }


def _start(
    workspace: Workspace, kind: Metered, to: State, *, at: datetime, ends_at: datetime
) -> int | None:
    rate, units, period = _tariff(workspace, kind)
    if not (rate.amount and units):
        return None
    # Kept data are where it ran last, not where a start has just failed.
    offer = workspace.data_offer if to == State.STOPPED else workspace.offer
    assert offer is not None
    meter = billing.start_meter(
        hold_id=workspace.hold_id,
        name=kind.value,
        rate=rate,
        units=Decimal(units),
        period_seconds=period,
        payee=f"supplier:{offer.supplier.slug}",
        fee_rate=settings.PLATFORM_FEE_RATE,
        started_at=at,
        ends_at=ends_at,
        key=f"workspace:{workspace.pk}:{kind.value}:{at.isoformat()}",
    )
    return meter.id


def _tariff(workspace: Workspace, kind: Metered) -> tuple[Money, int, int]:
    if kind == Metered.COMPUTE:
        assert workspace.hourly_price is not None
        return workspace.hourly_price, workspace.gpus, HOUR
    return workspace.quote.storage_rate, workspace.storage_gb, MONTH


def storage_left(meter_id: int | None, currency: str) -> Money:
    """
    Return what a running storage meter, if there is one, still costs until its end.
    """
    if meter_id is None:
        return Money(0, currency)
    meter = billing.meter_of(meter_id=meter_id)
    seconds = int((meter.ends_at - meter.started_at).total_seconds())
    in_all = costs.storage_cost(
        gb=meter.units, monthly_rate=meter.rate, hours=Decimal(seconds) / HOUR
    )
    return in_all - meter.billed_amount
