"""
What a workspace was charged, line by line, as its page shows it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC
from decimal import Decimal

from djmoney.money import Money

import formats
from billing.services import ChargeInfo, MeterInfo
from catalog.costs import HOUR
from workspaces.models import Metered, Workspace

LINES_SHOWN = 24


@dataclass(frozen=True, kw_only=True)
class Line:
    """
    What one meter cost in one UTC hour; `rate` is for an hour of all its units.
    """

    hour: str
    what: str
    seconds: int
    rate: Money
    amount: Money


@dataclass(frozen=True, kw_only=True)
class Earlier:
    """
    Lines that are only shown on demand, and what they add up to.
    """

    count: int
    amount: Money


@dataclass(frozen=True, kw_only=True)
class Bill:
    """
    The newest lines, the earlier ones as one, and the sum of them all.
    """

    lines: list[Line]
    earlier: Earlier | None
    total: Money


def bill(
    workspace: Workspace,
    *,
    charges: Sequence[ChargeInfo],
    meters: Iterable[MeterInfo],
    is_whole: bool,
) -> Bill:
    """
    Return the charges, newest first: all of them, or the latest.
    """
    shown = charges if is_whole else charges[:LINES_SHOWN]
    rest = charges[len(shown) :]
    rates = {meter.id: _hourly(meter) for meter in meters}
    return Bill(
        lines=[
            Line(
                hour=formats.date_time(
                    charge.hour, formats.language(), UTC, is_short=True
                ),
                what=_what(charge.meter_name, workspace),
                seconds=charge.seconds,
                rate=rates[charge.meter_id],
                amount=charge.amount,
            )
            for charge in shown
        ],
        earlier=Earlier(count=len(rest), amount=_sum(rest, workspace))
        if rest
        else None,
        total=_sum(charges, workspace),
    )


def _sum(charges: Iterable[ChargeInfo], workspace: Workspace) -> Money:
    amounts = (charge.amount for charge in charges)
    return sum(amounts, Money(Decimal(0), workspace.currency))


def _hourly(meter: MeterInfo) -> Money:
    return meter.rate * (meter.units * HOUR / meter.period_seconds)


def _what(name: str, workspace: Workspace) -> str:
    kind = Metered(name)
    if kind == Metered.COMPUTE:
        return f"{kind.label} × {formats.number(workspace.gpus, formats.language())}"
    return (
        f"{kind.label}, {formats.gigabytes(workspace.storage_gb, formats.language())}"
    )
