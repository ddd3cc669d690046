"""
The geometry of a chart of depth: how many nodes are asked and bid for at each price.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from djmoney.money import Money

from catalog import exchange

WIDTH, HEIGHT = 480, 200
TICKS = 3
# Far limits and asks would press the middle together; they are drawn at the edge.
FARTHEST = 3


class Step(NamedTuple):
    """
    So many nodes at this price, in the currency that asks are compared in.
    """

    price: Decimal
    nodes: int


class Tick(NamedTuple):
    """
    A line of the grid: `at` from the left or from the top, and what it stands for.
    """

    at: str
    value: Decimal

    @property
    def price(self) -> Money:
        return Money(self.value, exchange.REFERENCE)


@dataclass(frozen=True, kw_only=True)
class DepthChart:
    """
    Two stairs: asks rise from the cheapest on, bids from the highest limit down.
    """

    width: int
    height: int
    asks: str
    bids: str
    prices: list[Tick]
    nodes: list[Tick]


def draw(*, asks: Sequence[Step], bids: Sequence[Step]) -> DepthChart | None:
    """
    Return where to draw them; None if nothing is asked, so that there is no scale.
    """
    if not asks:
        return None
    low, high = _range(asks, bids)
    most = max(sum(step.nodes for step in side) for side in (asks, bids))

    def across(price: Decimal) -> str:
        inside = min(max(price, low), high)
        return f"{WIDTH * (inside - low) / (high - low):.1f}"

    def down(nodes: int) -> str:
        return f"{HEIGHT - Decimal(HEIGHT) * nodes / most:.1f}"

    rising = sorted(asks, key=lambda step: step.price)
    falling = sorted(bids, key=lambda step: step.price, reverse=True)
    return DepthChart(
        width=WIDTH,
        height=HEIGHT,
        asks=_stairs([(across(s.price), s.nodes) for s in rising], down, end=WIDTH),
        bids=_stairs([(across(s.price), s.nodes) for s in falling], down, end=0),
        prices=[Tick(across(price), price) for price in _prices(low, high)],
        nodes=[Tick(down(count), Decimal(count)) for count in {most, most // 2} - {0}],
    )


def _range(asks: Iterable[Step], bids: Iterable[Step]) -> tuple[Decimal, Decimal]:
    best = min(step.price for step in asks)
    prices = [
        min(max(step.price, best / FARTHEST), best * FARTHEST)
        for step in [*asks, *bids]
    ]
    margin = max(max(prices) - min(prices), best / 5) / 10
    return max(min(prices) - margin, Decimal(0)), max(prices) + margin


def _prices(low: Decimal, high: Decimal) -> list[Decimal]:
    """
    Return prices to write on the axis, to the cent.
    """
    places = Decimal("0.01")
    between = [low + (high - low) * n / (TICKS + 1) for n in range(1, TICKS + 1)]
    return sorted({price.quantize(places) for price in between})


def _stairs(
    steps: Iterable[tuple[str, int]], down: Callable[[int], str], *, end: int
) -> str:
    path, total = "", 0
    for x, nodes in steps:
        path += f"H{x}" if path else f"M{x} {down(0)}"
        total += nodes
        path += f"V{down(total)}"
    return f"{path}H{end}V{down(0)}z" if path else ""
