"""
The worked numbers of the page "How billing works", from the functions that bill.
"""

from dataclasses import dataclass
from decimal import Decimal

from djmoney.money import Money

from catalog import costs
from catalog.costs import HOUR, MONTH

RATE = Money("0.33", "USD")
STORAGE_RATE = Money("0.09", "USD")
HOURS = 40
STORAGE_GB = 200
KEPT_DAYS = 7
STOPPED_AFTER = 10 * HOUR + HOUR // 2
ROUNDING_HOURS = 4


@dataclass(frozen=True, kw_only=True)
class RoundedHour:
    """
    An hour of storage: the exact sum since the start, rounded, and its own charge.
    """

    number: int
    exact: Money
    rounded: Money
    charge: Money


@dataclass(frozen=True, kw_only=True)
class Stop:
    """
    What a stop half-way costs, and what comes back without and with kept data.
    """

    seconds: int
    hour: int
    compute: Money
    storage: Money
    back: Money
    back_if_kept: Money


def window(hours: Decimal | int = HOURS) -> costs.Cost:
    return costs.cost_window(
        hours=hours,
        gpus=1,
        rate=RATE,
        storage_gb=STORAGE_GB,
        storage_rate=STORAGE_RATE,
        kept_days=KEPT_DAYS,
    )


def stopped_early() -> Stop:
    held, used = window().total, window(Decimal(STOPPED_AFTER) / HOUR)
    return Stop(
        seconds=STOPPED_AFTER,
        hour=HOUR,
        compute=used.compute,
        storage=used.storage,
        back=held - used.compute - used.storage,
        back_if_kept=held - used.total,
    )


def rounded_hours() -> list[RoundedHour]:
    exact = STORAGE_RATE * STORAGE_GB / (MONTH // HOUR)
    return [
        RoundedHour(
            number=number,
            exact=exact * number,
            rounded=_storage(number),
            charge=_storage(number) - _storage(number - 1),
        )
        for number in range(1, ROUNDING_HOURS + 1)
    ]


def _storage(hours: int) -> Money:
    return costs.storage_cost(gb=STORAGE_GB, monthly_rate=STORAGE_RATE, hours=hours)
