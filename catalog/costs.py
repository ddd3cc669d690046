"""
What a rental costs, worked out before it is billed; no database, no clock.

The biller charges a meter `rate x units x seconds / seconds of the rate's period`,
rounded half up once for all its seconds. The same rounding is used here, so that an
estimate and the bill of the same hours agree to the cent. A GB-month has 730 hours.
"""

from dataclasses import dataclass
from decimal import ROUND_UP, Decimal

from djmoney.money import Money

from money import places_of, round_half_up

HOUR = 3600
MONTH = 730 * HOUR
DAY = 24 * HOUR
PLANNING_WINDOWS = (8, 40, 120)


@dataclass(frozen=True)
class Cost:
    """
    The lines of an estimate, each rounded half up; the total is their sum.
    """

    compute: Money
    storage: Money
    kept_storage: Money
    total: Money


@dataclass(frozen=True)
class Pilot:
    """
    A measured pilot run carried on to an accepted checkpoint.

    Seconds are whole: `training` and `evaluation` of one run, `failed` for the runs
    that are expected to fail before one is accepted, `total` of all three.
    """

    training_seconds: int
    evaluation_seconds: int
    failed_seconds: int
    cost: Cost

    @property
    def total_seconds(self) -> int:
        return self.training_seconds + self.evaluation_seconds + self.failed_seconds

    @property
    def hours(self) -> Decimal:
        return Decimal(self.total_seconds) / HOUR


def cost_window(
    *,
    hours: Decimal | int,
    gpus: int,
    rate: Money,
    storage_gb: int = 0,
    storage_rate: Money | None = None,
    kept_days: int = 0,
) -> Cost:
    """
    Return what `gpus` cost for `hours`, with storage while they run and after.

    `rate` is per GPU-hour, `storage_rate` per GB-month. Storage is one meter: what it
    costs after the run is what it costs in all, less what the run's storage costs.

    :raises ValueError: if a quantity is negative, if stored data has no rate, or if
        the two rates are in different currencies
    """
    seconds = _seconds(hours)
    if min(seconds, gpus, storage_gb, kept_days) < 0:
        raise ValueError("Hours, GPUs, storage and days cannot be negative.")
    if storage_gb and storage_rate is None:
        raise ValueError("Storage needs a rate per GB-month.")
    if storage_rate is None:
        storage_rate = Money(0, rate.currency)
    if storage_rate.currency != rate.currency:
        raise ValueError("Compute and storage are priced in different currencies.")
    compute = _metered(rate, gpus, seconds, HOUR)
    storage = _metered(storage_rate, storage_gb, seconds, MONTH)
    stored = _metered(storage_rate, storage_gb, seconds + kept_days * DAY, MONTH)
    amounts = (compute, storage, stored - storage, compute + stored)
    return Cost(*(Money(amount, rate.currency) for amount in amounts))


def storage_cost(
    *, gb: Decimal | int, monthly_rate: Money, hours: Decimal | int
) -> Money:
    """
    Return what `gb` cost for `hours` at a rate per GB-month of 730 hours.

    :raises ValueError: if a quantity is negative
    """
    seconds = _seconds(hours)
    if min(seconds, gb) < 0:
        raise ValueError("Storage and hours cannot be negative.")
    amount = _metered(monthly_rate, gb, seconds, MONTH)
    return Money(amount, monthly_rate.currency)


def tokens_per_second(*, seconds_per_step: Decimal, tokens_per_step: int) -> Decimal:
    """
    Return the speed of a run of which the time of one step was measured.

    :raises ValueError: if either is not above zero
    """
    if seconds_per_step <= 0 or tokens_per_step <= 0:
        raise ValueError("A step takes time and has tokens.")
    return Decimal(tokens_per_step) / Decimal(seconds_per_step)


def pilot(
    *,
    rate: Money,
    measured_tokens_per_second: Decimal,
    dataset_tokens: int,
    epochs: Decimal | int = 1,
    evaluation_hours: Decimal | int = 0,
    failed_share: Decimal | int = 0,
    gpus: int = 1,
    storage_gb: int = 0,
    storage_rate: Money | None = None,
    kept_days: int = 0,
) -> Pilot:
    """
    Return the hours and the cost up to an accepted checkpoint, from a measured speed.

    The speed is that of the whole run, all GPUs together. `failed_share` is the share
    of runs that are thrown away (0.25: one in four), each with its evaluation: one
    accepted run then takes 1 / (1 - share) runs.

    :raises ValueError: if the speed or the tokens are not above zero, if the share is
        not at least 0 and below 1, or for the reasons of `cost_window`
    """
    if measured_tokens_per_second <= 0 or dataset_tokens <= 0 or epochs <= 0:
        raise ValueError("Speed, tokens and epochs are above zero.")
    training = _round_up(dataset_tokens * Decimal(epochs) / measured_tokens_per_second)
    evaluation, failed = _tested(training, evaluation_hours, failed_share)
    cost = cost_window(
        hours=Decimal(training + evaluation + failed) / HOUR,
        gpus=gpus,
        rate=rate,
        storage_gb=storage_gb,
        storage_rate=storage_rate,
        kept_days=kept_days,
    )
    return Pilot(training, evaluation, failed, cost)


def _tested(
    training: int, evaluation_hours: Decimal | int, failed_share: Decimal | int
) -> tuple[int, int]:
    """
    Return the seconds of the evaluation, and of the runs that are thrown away.
    """
    if evaluation_hours < 0:
        raise ValueError("Hours of evaluation cannot be negative.")
    if not 0 <= failed_share < 1:
        raise ValueError("The share of failed runs is at least 0 and below 1.")
    evaluation = _seconds(evaluation_hours)
    once = training + evaluation
    return evaluation, _round_up(once / (1 - Decimal(failed_share))) - once


def _metered(rate: Money, units: Decimal | int, seconds: int, period: int) -> Decimal:
    amount: Decimal = rate.amount * units * seconds / period
    return round_half_up(amount, places_of(rate.currency))


def _seconds(hours: Decimal | int) -> int:
    if isinstance(hours, float):
        raise TypeError(f"{hours!r} is a float: hours are whole or Decimals.")
    # Meters run in whole seconds; a third of an hour is not a finite decimal.
    return int((Decimal(hours) * HOUR).to_integral_value())


def _round_up(seconds: Decimal) -> int:
    return int(seconds.to_integral_value(rounding=ROUND_UP))
