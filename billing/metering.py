"""
What a rate that runs costs: the one formula, which the SQL of the ticks repeats.
"""

import math
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction

from djmoney.money import Money

from billing.models import Meter

HOUR = timedelta(hours=1)


def amount_for(
    *, rate: Decimal, units: Decimal, seconds: int, period_seconds: int
) -> Decimal:
    """
    Return what `seconds` cost at `rate` times `units` a period, rounded half up, once.

    Computed in fractions: a quotient cut off to decimals before it is rounded can end
    up on the wrong side of half a cent.
    """
    exact = Fraction(rate) * Fraction(units) * seconds / period_seconds
    return Decimal(math.floor(exact * 100 + Fraction(1, 2))).scaleb(-2)


def cost_between(meter: Meter, start: datetime, end: datetime) -> Money:
    """
    Return what the meter costs from `start` to `end`, rounded as one amount.
    """
    amount = amount_for(
        rate=meter.rate.amount,
        units=meter.units,
        seconds=int((end - start).total_seconds()),
        period_seconds=meter.period_seconds,
    )
    return Money(amount, meter.rate.currency)


def left_to_bill(meter: Meter) -> Money:
    """
    Return what a running meter may still cost until it ends.
    """
    left: Money = (
        cost_between(meter, meter.started_at, meter.ends_at) - meter.billed_amount
    )
    return left


def whole_second(at: datetime) -> datetime:
    return at.replace(microsecond=0)


def whole_hour(at: datetime) -> datetime:
    """
    Return the start of the UTC hour, whatever zone `at` is written in.
    """
    seconds = int(at.timestamp())
    return at.replace(microsecond=0) - timedelta(seconds=seconds % 3600)
