"""
Meters: start a rate, let it run longer, stop it to the second.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Q, Subquery
from djmoney.money import Money

from billing import metering
from billing.ledger import claim_key, open_account, retry_conflicts
from billing.models import Account, Charge, Hold, Meter, MeterFault
from billing.services.holds import (
    HoldEnded,
    HoldTooSmall,
    committed_of,
    lock_open_hold,
    remaining_of,
)
from billing.ticks import DueMeter, Failure, charge_meters, report_fault


class MeterEnded(Exception):
    """
    The meter was stopped, or came to its end, before.
    """


@dataclass(frozen=True)
class MeterInfo:
    """
    One meter as it stands: `rate` times `units` for every `period_seconds`.
    """

    id: int
    hold_id: int
    name: str
    rate: Money
    units: Decimal
    period_seconds: int
    started_at: datetime
    ends_at: datetime
    stopped_at: datetime | None
    billed_until: datetime
    billed_amount: Money


class RunningMeter(NamedTuple):
    """
    One meter that runs: `reference` is what its hold is for.
    """

    id: int
    name: str
    reference: str
    started_at: datetime
    ends_at: datetime
    billed_until: datetime


@dataclass(frozen=True)
class ChargeInfo:
    """
    What one meter cost in one UTC hour, from `from_at` up to, not including, `to_at`.
    """

    meter_id: int
    meter_name: str
    hour: datetime
    from_at: datetime
    to_at: datetime
    seconds: int
    amount: Money
    supplier_amount: Money
    fee_amount: Money


@retry_conflicts
@transaction.atomic
def start_meter(
    *,
    hold_id: int,
    name: str,
    rate: Money,
    units: Decimal,
    period_seconds: int,
    payee: str,
    fee_rate: Decimal,
    started_at: datetime,
    ends_at: datetime,
    key: str,
) -> MeterInfo:
    """
    Start a rate that runs out of the hold, from `started_at` up to `ends_at`, both cut
    to whole seconds. The house keeps `fee_rate` of each charge, `payee` gets the rest.

    :raises HoldEnded: if the hold has ended, or fell due before the start
    :raises HoldTooSmall: if the hold cannot cover the meter until `ends_at`
    :raises ValueError: if it would end before it starts or in another currency
    :raises KeyReused: if `key` started another meter
    """
    terms: dict[str, Any] = {
        "name": name,
        "rate": rate,
        "units": units,
        "period_seconds": period_seconds,
        "fee_rate": fee_rate,
        "started_at": metering.whole_second(started_at),
        "ends_at": metering.whole_second(ends_at),
    }
    content = {"hold": hold_id, "payee": payee, **terms}
    claim = claim_key(verb="start_meter", key=key, content=content)
    if not claim.is_new:
        return meter_of(meter_id=claim.result)
    hold = _lock_hold_for_start(hold_id, rate=rate, at=started_at)
    meter = _run(hold, payee=payee, terms=terms)
    claim.settle(meter.pk)
    return info_of(meter)


def _run(hold: Hold, *, payee: str, terms: dict[str, Any]) -> Meter:
    meter = Meter(
        hold=hold,
        payee=open_account(Account.Kind.PAYABLE, hold.currency, payee),
        billed_until=terms["started_at"],
        billed_amount=Money(0, hold.currency),
        **terms,
    )
    if meter.started_at >= meter.ends_at:
        raise ValueError("A meter ends after it starts.")
    _require_cover(hold, metering.left_to_bill(meter))
    # A tick only looks the house's account up, so it has to be there.
    open_account(Account.Kind.FEES, hold.currency)
    meter.save(force_insert=True)
    return meter


def _lock_hold_for_start(hold_id: int, *, rate: Money, at: datetime) -> Hold:
    hold = lock_open_hold(hold_id)
    if hold.expires_at and hold.expires_at <= at and not hold.meters.exists():
        raise HoldEnded
    if str(rate.currency) != hold.currency:
        raise ValueError("A meter runs in the currency of its hold.")
    return hold


@retry_conflicts
@transaction.atomic
def extend_meter(*, meter_id: int, ends_at: datetime) -> MeterInfo:
    """
    Let a running meter end later; extend its hold first.

    Asking again for the same end changes nothing.

    :raises MeterEnded: if it runs no more
    :raises HoldTooSmall: if the hold cannot cover the meter until then
    :raises ValueError: if it would end earlier than now planned
    """
    meter = lock_meter(meter_id)
    if meter.stopped_at is not None:
        raise MeterEnded
    ends_at = metering.whole_second(ends_at)
    if ends_at < meter.ends_at:
        raise ValueError("A meter is stopped early, not shortened.")
    hold = lock_open_hold(meter.hold_id)
    # What is committed until the old end is free of the new one already.
    more = metering.cost_between(meter, meter.started_at, ends_at)
    more -= metering.cost_between(meter, meter.started_at, meter.ends_at)
    _require_cover(hold, more)
    Meter.objects.filter(pk=meter.pk).update(ends_at=ends_at)
    return meter_of(meter_id=meter_id)


@retry_conflicts
@transaction.atomic
def shorten_meter(*, meter_id: int, ends_at: datetime) -> MeterInfo:
    """
    Let a running meter end earlier, which frees what it then needs no more of its hold.

    The end that it has already changes nothing, even after it.

    :raises MeterEnded: if it runs no more
    :raises ValueError: if it would end later than now planned, or before the time
        that is billed already
    """
    meter = lock_meter(meter_id)
    ends_at = metering.whole_second(ends_at)
    if ends_at == meter.ends_at:
        return info_of(meter)
    if meter.stopped_at is not None:
        raise MeterEnded
    if not meter.billed_until <= ends_at <= meter.ends_at:
        raise ValueError("A meter is shortened to a time that is not billed yet.")
    Meter.objects.filter(pk=meter.pk).update(ends_at=ends_at)
    return meter_of(meter_id=meter_id)


def _require_cover(hold: Hold, cost: Money) -> None:
    free = remaining_of(hold) - committed_of(hold)
    if cost > free:
        raise HoldTooSmall(needed=cost, free=free)


@retry_conflicts
@transaction.atomic
def stop_meter(
    *, meter_id: int, at: datetime, is_broken_hour_free: bool = False
) -> MeterInfo:
    """
    Stop the meter and bill it to the second, at most up to its end.

    Stopping a stopped meter changes nothing. A stop before the time that is already
    billed charges nothing back: the meter ends there and staff are told. After an
    interruption by the supplier the hour that it broke is free.

    :raises HoldTooSmall: if the hold does not cover the last seconds
    """
    meter = lock_meter(meter_id)
    if meter.stopped_at is not None:
        return info_of(meter)
    at = metering.whole_second(at)
    until = metering.whole_hour(at) if is_broken_hour_free else at
    if at < meter.billed_until:
        detail = f"Stopped at {at:%Y-%m-%d %H:%M:%S}, but billed further."
        kind = MeterFault.Kind.STOPPED_BEFORE_BILLED
        report_fault(Failure(meter.pk, kind, detail), at=at)
    due = DueMeter(meter.pk, meter.hold_id, meter.payee_id)
    run = charge_meters([due], at=at, until=until, is_stop=True)
    if run.failures:
        needed = metering.cost_between(meter, meter.billed_until, until)
        raise HoldTooSmall(needed=needed, free=remaining_of(meter.hold))
    return meter_of(meter_id=meter_id)


def lock_meter(meter_id: int) -> Meter:
    """
    Return the meter, locked until the transaction ends with its hold's running ones.

    Whoever stops one meter of a hold may go on to the next, which must not come after
    the hold in the order of locks.
    """
    its_hold = Meter.objects.filter(pk=meter_id).values("hold_id")
    wanted = Q(pk=meter_id) | Q(stopped_at=None)
    meters = Meter.objects.filter(wanted, hold_id=Subquery(its_hold)).order_by("pk")
    by_id = {meter.pk: meter for meter in meters.select_for_update(no_key=True)}
    return by_id[meter_id]


def meter_of(*, meter_id: int) -> MeterInfo:
    """
    Return the meter as it stands.
    """
    return info_of(Meter.objects.get(pk=meter_id))


def meter_for_update(*, meter_id: int) -> MeterInfo:
    """
    Return the meter as it stands, which nothing else changes before this transaction
    ends.
    """
    return info_of(lock_meter(meter_id))


def running_meters() -> list[RunningMeter]:
    """
    Return every meter that runs, and what its hold is for.
    """
    running = Meter.objects.filter(stopped_at=None).order_by("pk")
    rows = running.values_list(
        "pk", "name", "hold__reference", "started_at", "ends_at", "billed_until"
    )
    return [RunningMeter(*row) for row in rows.iterator()]


def meters_of(*, hold_id: int) -> list[MeterInfo]:
    """
    Return the meters of a hold in the order of their starts.
    """
    meters = Meter.objects.filter(hold_id=hold_id).order_by("started_at", "pk")
    return [info_of(meter) for meter in meters]


def open_faults() -> list[MeterFault]:
    """
    Return what keeps meters from being billed, or happened to them, the oldest first.
    """
    faults = MeterFault.objects.filter(resolved_at=None)
    return list(faults.select_related("meter__hold").order_by("pk"))


def info_of(meter: Meter) -> MeterInfo:
    return MeterInfo(
        id=meter.pk,
        hold_id=meter.hold_id,
        name=meter.name,
        rate=meter.rate,
        units=meter.units,
        period_seconds=meter.period_seconds,
        started_at=meter.started_at,
        ends_at=meter.ends_at,
        stopped_at=meter.stopped_at,
        billed_until=meter.billed_until,
        billed_amount=meter.billed_amount,
    )


def charges_of(*, hold_id: int) -> list[ChargeInfo]:
    """
    Return what the hold's meters were charged, the newest hour first.
    """
    charges = Charge.objects.filter(meter__hold_id=hold_id).select_related("meter")
    return [
        ChargeInfo(
            meter_id=charge.meter_id,
            meter_name=charge.meter.name,
            hour=charge.hour,
            from_at=charge.from_at,
            to_at=charge.to_at,
            seconds=charge.seconds,
            amount=charge.amount,
            supplier_amount=charge.supplier_amount,
            fee_amount=charge.fee_amount,
        )
        for charge in charges.order_by("-from_at", "meter_id")
    ]
