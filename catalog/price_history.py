"""
What was asked for a GPU in a region over time, from the versions of its prices.

A version counts from its start until the next one, but no longer than it is taken for
true: `PRICE_STALE_DAYS` after it was confirmed last. Every offer counts once, whatever
its number of nodes and whether one of them was free: that is not recorded. Currencies
are not mixed, so no exchange rate moves a line.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any

from django.conf import settings
from django.db.models import DateTimeField, ExpressionWrapper, F, Q, Value
from django.db.models.functions import Greatest, Least
from djmoney.money import Money

from catalog.models import OfferPrice
from money import round_half_up

PLACES = 6
LOW, MIDDLE, HIGH = Decimal("0.1"), Decimal("0.5"), Decimal("0.9")
# A line needs two moments with a price.
LEAST_MOMENTS = 2
PRICES = ("best", "low", "median", "high")


@dataclass(frozen=True, slots=True)
class AskedPrice:
    """
    A price per GPU-hour that counted from `since` until just before `until`.
    """

    amount: Decimal
    since: datetime
    until: datetime | None


@dataclass(frozen=True, slots=True)
class Figures:
    """
    What was asked at a moment: the best ask, the median, the middle 80 %.
    """

    best: Decimal
    low: Decimal
    median: Decimal
    high: Decimal
    asks: int


@dataclass(frozen=True, slots=True)
class Point:
    """
    A moment with its figures: None while nobody asked anything that counted.
    """

    at: datetime
    figures: Figures | None


@dataclass(frozen=True, slots=True)
class Period:
    """
    UTC days in a row on which nothing changed; no prices where nobody asked any.
    """

    first: date
    last: date
    asks: int
    prices: dict[str, Money] | None


@dataclass(frozen=True, kw_only=True)
class PriceHistory:
    """
    The points of a region's asks in one currency, the oldest first.

    `currencies` are all in which somebody asked there, the most frequent first;
    `reasons` are those that the prices were entered with.
    """

    currency: str
    currencies: list[str]
    points: list[Point]
    reasons: frozenset[str]

    @property
    def is_enough(self) -> bool:
        """
        Whether there is something to draw.
        """
        return sum(bool(point.figures) for point in self.points) >= LEAST_MOMENTS

    @property
    def periods(self) -> list[Period]:
        """
        The same without repeating what did not change, the newest first.
        """
        found = []
        for figures, group in groupby(self.points, key=lambda point: point.figures):
            days = [point.at.astimezone(UTC).date() for point in group]
            found.append(self._period(days, figures))
        # What was before the first price is not a gap.
        if found and found[0].prices is None:
            del found[0]
        return found[::-1]

    def _period(self, days: list[date], figures: Figures | None) -> Period:
        if figures is None:
            return Period(days[0], days[-1], 0, None)
        prices = {name: Money(getattr(figures, name), self.currency) for name in PRICES}
        return Period(days[0], days[-1], figures.asks, prices)

    @property
    def chart(self) -> dict[str, Any]:
        """
        The points in columns: times in seconds, prices as text, gaps as None.
        """
        return {
            "currency": self.currency,
            "times": [int(point.at.timestamp()) for point in self.points],
            **{name: self._column(name) for name in PRICES},
        }

    def _column(self, name: str) -> list[str | None]:
        return [
            str(getattr(point.figures, name)) if point.figures else None
            for point in self.points
        ]


def percentile(ordered: Sequence[Decimal], share: Decimal) -> Decimal:
    """
    Return the value below which this share of the ordered amounts lies.

    Between two amounts it is interpolated, as PostgreSQL's percentile_cont does it.
    """
    place = (len(ordered) - 1) * share
    lower = int(place)
    upper = min(lower + 1, len(ordered) - 1)
    step = ordered[upper] - ordered[lower]
    return round_half_up(ordered[lower] + step * (place - lower), PLACES)


def history(prices: Iterable[AskedPrice], moments: Iterable[datetime]) -> list[Point]:
    """
    Return the figures of each moment; the moments are in order.
    """
    prices = list(prices)
    begins = sorted((price.since, price.amount) for price in prices)[::-1]
    ends = sorted((price.until, price.amount) for price in prices if price.until)[::-1]
    asked: list[Decimal] = []
    points = []
    for at in moments:
        while begins and begins[-1][0] <= at:
            insort(asked, begins.pop()[1])
        while ends and ends[-1][0] <= at:
            del asked[bisect_left(asked, ends.pop()[1])]
        points.append(Point(at, _figures(asked)))
    return points


def read_history(
    *, gpu_id: int, region_id: int, days: int, at: datetime, currency: str = ""
) -> PriceHistory:
    """
    Return how the asks stood at 00:00 UTC of each of the last days, and at `at`.

    Without a currency, or in one that nobody asked in, it is the most frequent one.
    """
    moments = moments_until(at, days=days)
    rows = _rows(gpu_id=gpu_id, region_id=region_id, since=moments[0], at=at)
    by_currency: dict[str, list[AskedPrice]] = {}
    reasons = set()
    for code, amount, since, until, reason in rows:
        reasons.add(reason)
        by_currency.setdefault(code, []).append(AskedPrice(amount, since, until))
    found = sorted(by_currency, key=lambda code: (-len(by_currency[code]), code))
    if currency not in by_currency:
        currency = found[0] if found else settings.CURRENCIES[0]
    return PriceHistory(
        currency=currency,
        currencies=found,
        points=history(by_currency.get(currency, []), moments),
        reasons=frozenset(reasons),
    )


def moments_until(at: datetime, *, days: int) -> list[datetime]:
    """
    Return the starts of this many UTC days, the last one that of `at`, and `at`.
    """
    today = at.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    starts = [today - timedelta(days=back) for back in range(days - 1, -1, -1)]
    return starts if starts[-1] == at else [*starts, at]


def _figures(ordered: Sequence[Decimal]) -> Figures | None:
    if not ordered:
        return None
    return Figures(
        best=ordered[0],
        low=percentile(ordered, LOW),
        median=percentile(ordered, MIDDLE),
        high=percentile(ordered, HIGH),
        asks=len(ordered),
    )


def _rows(*, gpu_id: int, region_id: int, since: datetime, at: datetime) -> Any:
    believed = ExpressionWrapper(
        F("confirmed_at") + timedelta(days=settings.PRICE_STALE_DAYS, microseconds=1),
        output_field=DateTimeField(),
    )
    versions = OfferPrice.objects.filter(
        Q(valid_to__isnull=True) | Q(valid_to__gt=since),
        offer__gpu=gpu_id,
        offer__region=region_id,
        valid_from__lte=at,
    )
    counting = versions.annotate(until=Least("valid_to", believed))
    counting = counting.filter(until__gt=Greatest(F("valid_from"), Value(since)))
    return counting.values_list(
        "hourly_price_currency", "hourly_price", "valid_from", "until", "reason"
    )
