"""
The end of funds: see it coming, move it, or let it be moved an hour at a time.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F
from djmoney.money import Money

from billing import metering
from billing.ledger import Entry, claim_key, post, retry_conflicts
from billing.models import EndWarning, Hold, Meter, Transfer
from billing.services.holds import (
    HoldEnded,
    HoldInfo,
    hold_of,
    lock_open_hold,
    remaining_of,
)
from billing.services.meters import MeterEnded, lock_meter
from billing.services.wallets import (
    InsufficientFunds,
    WalletFrozen,
    lock_wallet,
    require_free,
)

HOURS_BEFORE = (1, 6, 24)
STEP = timedelta(hours=1)


@dataclass(frozen=True)
class Extension:
    """
    What became of an automatic extension; `refusal` says why it went no further.
    """

    hold_id: int
    reference: str
    ends_at: datetime
    refusal: InsufficientFunds | WalletFrozen | None


@dataclass(frozen=True)
class EndWarningInfo:
    """
    A warning that nobody was sent yet.
    """

    id: int
    reference: str
    meter_name: str
    hours_before: int
    ends_at: datetime


@retry_conflicts
@transaction.atomic
def extend_running(
    *,
    hold_id: int,
    by: timedelta,
    key: str,
    at: datetime,
    reserved: Money | None = None,
) -> HoldInfo:
    """
    Let every running meter of the hold end `by` later.

    What that costs beyond what is free in the hold is set aside from the wallet; what
    is `reserved` for something else is not free.

    :raises InsufficientFunds: if less is free in the wallet
    :raises WalletFrozen: if a dispute stands against the wallet
    :raises MeterEnded: if none of the hold's meters runs
    :raises HoldEnded: if the hold has ended
    :raises ValueError: if `by` is not a positive number of whole seconds
    :raises KeyReused: if `key` extended something else
    """
    if by <= timedelta() or by.microseconds:
        raise ValueError("A hold is extended by whole seconds.")
    content = {"hold": hold_id, "seconds": int(by.total_seconds())}
    claim = claim_key(verb="extend_running", key=key, content=content)
    if not claim.is_new:
        return hold_of(hold_id=hold_id)
    hold = lock_open_hold(hold_id)
    meters = hold.meters.filter(stopped_at=None)
    missing = _cost_of_longer(meters, by=by) - remaining_of(hold)
    if reserved is not None:
        missing += reserved
    if missing.amount > 0:
        _set_aside(hold, missing, key=f"extend_running:{key}", at=at)
    meters.update(ends_at=F("ends_at") + by)
    return hold_of(hold_id=hold_id)


def _cost_of_longer(meters: Iterable[Meter], *, by: timedelta) -> Money:
    costs = []
    for meter in meters:
        meter.ends_at += by
        costs.append(metering.left_to_bill(meter))
    if not costs:
        raise MeterEnded
    return sum(costs[1:], costs[0])


def _set_aside(hold: Hold, amount: Money, *, key: str, at: datetime) -> None:
    wallet = lock_wallet(hold.wallet)
    require_free(wallet, amount)
    kind = Transfer.Kind.HOLD
    entry = Entry(wallet.available, wallet.held, amount, kind, "hold")
    post([entry], key=key, at=at, reference=hold.reference)
    Hold.objects.filter(pk=hold.pk).update(amount=F("amount") + amount.amount)


@transaction.atomic
def set_auto_extend(*, hold_id: int, is_on: bool) -> HoldInfo:
    """
    Switch on or off that the hold's meters run on while the wallet covers it.

    :raises HoldEnded: if the hold has ended
    """
    lock_open_hold(hold_id)
    Hold.objects.filter(pk=hold_id).update(is_extended_automatically=is_on)
    return hold_of(hold_id=hold_id)


def extend_automatically(*, at: datetime) -> list[Extension]:
    """
    Extend what ends within the hour, hour by hour, while the wallet covers it.

    Run before the tick: a payment that came in the last second then still counts.
    A refusal is told by a warning, once for that end.
    """
    ending = Meter.objects.filter(
        stopped_at=None,
        ends_at__lte=at + STEP,
        hold__status=Hold.Status.OPEN,
        hold__is_extended_automatically=True,
    )
    holds = sorted(set(ending.values_list("hold_id", flat=True)))
    extensions = (_extend_while_covered(hold_id, at=at) for hold_id in holds)
    return [extension for extension in extensions if extension is not None]


def _extend_while_covered(hold_id: int, *, at: datetime) -> Extension | None:
    """
    Return what became of it, or None if it was stopped meanwhile.
    """
    refusal: InsufficientFunds | WalletFrozen | None = None
    first = _first_to_end(hold_id)
    while first and first.ends_at <= at + STEP and refusal is None:
        try:
            _extend_by_step(first, at=at)
        except (InsufficientFunds, WalletFrozen) as error:
            refusal = error
            _warn([(first, HOURS_BEFORE[0])], at=at)
        except (HoldEnded, MeterEnded):
            return None
        first = _first_to_end(hold_id)
    if first is None:
        return None
    return Extension(
        hold_id=hold_id,
        reference=first.hold.reference,
        ends_at=first.ends_at,
        refusal=refusal,
    )


@retry_conflicts
@transaction.atomic
def _extend_by_step(first: Meter, *, at: datetime) -> None:
    # Whoever stops it keeps what is stored: that is not extended in its place.
    if lock_meter(first.pk).stopped_at is not None:
        raise MeterEnded
    extend_running(
        hold_id=first.hold_id,
        by=STEP,
        key=f"auto:{first.hold_id}:{first.ends_at.isoformat()}",
        at=at,
    )


def _first_to_end(hold_id: int) -> Meter | None:
    meters = Meter.objects.filter(hold_id=hold_id, stopped_at=None)
    return meters.select_related("hold").order_by("ends_at", "pk").first()


def warn_of_ends(*, at: datetime) -> None:
    """
    Note a warning for each running meter that ends within 24, 6 or 1 hours.

    Once for each of these and each end, never for more hours than the meter had from
    its start, and after an outage only for the nearest.
    """
    running = Meter.objects.filter(
        stopped_at=None,
        ends_at__gt=at,
        ends_at__lte=at + timedelta(hours=HOURS_BEFORE[-1]),
        hold__is_extended_automatically=False,
    )
    _warn(
        [
            (meter, hours)
            for meter in running.order_by("pk")
            if (hours := _nearest(meter, at)) is not None
        ],
        at=at,
    )


def _nearest(meter: Meter, at: datetime) -> int | None:
    left = meter.ends_at - at
    hours = next(hours for hours in HOURS_BEFORE if left <= timedelta(hours=hours))
    is_worth_it = meter.ends_at - meter.started_at > timedelta(hours=hours)
    return hours if is_worth_it else None


def _warn(warnings: list[tuple[Meter, int]], *, at: datetime) -> None:
    EndWarning.objects.bulk_create(
        [
            EndWarning(
                meter=meter, hours_before=hours, ends_at=meter.ends_at, warned_at=at
            )
            for meter, hours in warnings
        ],
        ignore_conflicts=True,
    )


def unsent_warnings() -> list[EndWarningInfo]:
    """
    Return the warnings that nobody was sent yet, the oldest first.
    """
    rows = EndWarning.objects.filter(sent_at=None).select_related("meter__hold")
    return [
        EndWarningInfo(
            id=row.pk,
            reference=row.meter.hold.reference,
            meter_name=row.meter.name,
            hours_before=row.hours_before,
            ends_at=row.ends_at,
        )
        for row in rows.order_by("pk")
    ]


def mark_warning_sent(*, warning_id: int, at: datetime) -> bool:
    """
    Note that the warning was sent; return False if another did before.

    Call it in the transaction that writes the mail into the outbox.
    """
    unsent = EndWarning.objects.filter(pk=warning_id, sent_at=None)
    return unsent.update(sent_at=at) == 1
