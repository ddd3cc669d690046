"""
What new prices touch, told before they are saved: asks, rentals, waiting requests.

Rentals keep the price that they agreed on; a waiting request takes an offer whose
price is within its limit. Only what would change at once is held against the book: a
scheduled price meets whatever waits when it begins.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.db.models import Count
from djmoney.money import Money

from catalog import exchange
from catalog.models import GpuModel, Offer, Region
from catalog.names import region_city
from catalog.price_plans import PlannedPrice, PricePlan
from marketplace.book import bids_of
from workspaces.models import Workspace
from workspaces.states import ON_A_NODE


@dataclass(frozen=True)
class Effect:
    """
    What the new price of one offer touches.

    `rentals` keep their price; `reach_before` and `reach` are the waiting requests
    that could take the offer at the old price and at the new one.
    """

    rentals: int
    reach_before: int
    reach: int


@dataclass(frozen=True)
class BestAsk:
    """
    The best ask of a GPU in a region, before and after; None where nobody asks.
    """

    gpu: str
    region: str
    before: Money | None
    after: Money | None


@dataclass(frozen=True, kw_only=True)
class Effects:
    """
    What a whole plan touches.
    """

    by_line: Mapping[int, Effect]
    rentals: int
    asks: int
    best: list[BestAsk]


class _Lane(NamedTuple):
    """
    What a request and an offer have in common that can meet.
    """

    gpu_id: int
    gpus: int
    region: str
    currency: str


def effects_of(plan: PricePlan) -> Effects:
    """
    Return what the prices of a plan would touch, if they were saved now.
    """
    rows = [*plan.written, *plan.waiting]
    # What waits for an approval does not begin yet.
    at_once = [row for row in plan.written if row.valid_from == plan.at]
    rentals = _rentals({row.offer.pk for row in rows})
    limits = _limits({row.offer.gpu_id for row in rows}, at=plan.at)
    return Effects(
        by_line={
            row.line.number: Effect(
                rentals=rentals[row.offer.pk],
                reach_before=_reach(row, row.before and row.before.price, limits),
                reach=_reach(row, row.line.price, limits),
            )
            for row in rows
        },
        rentals=sum(rentals.values()),
        asks=sum(_is_ask(row.offer) for row in at_once),
        best=_best_asks(at_once, at=plan.at),
    )


def _is_ask(offer: Any) -> bool:
    return bool(offer.is_listed and offer.free_nodes > 0)


def _rentals(offer_ids: Iterable[int]) -> Counter[int]:
    renting = Workspace.objects.filter(offer__in=offer_ids, state__in=ON_A_NODE)
    counted = renting.order_by().values_list("offer").annotate(count=Count("pk"))
    return Counter(dict(counted))


def _limits(gpu_ids: Iterable[int], *, at: datetime) -> dict[_Lane, list[Decimal]]:
    """
    Return what waiting requests pay at most, in order, by where they can go.
    """
    found = defaultdict(list)
    for bid in bids_of(gpu_ids=gpu_ids, at=at, before_opening=True):
        for region in bid.regions:
            for currency, rate in bid.rates.items():
                lane = _Lane(bid.gpu_id, bid.gpus, region, currency)
                found[lane].append(bid.limit / rate)
    return {lane: sorted(limits) for lane, limits in found.items()}


def _reach(
    row: PlannedPrice, price: Money | None, limits: Mapping[_Lane, list[Decimal]]
) -> int:
    if price is None or not row.offer.is_listed:
        return 0
    lane = _Lane(
        row.offer.gpu_id,
        row.offer.gpus_per_node,
        row.offer.region.slug,
        price.currency.code,
    )
    there = limits.get(lane, [])
    return len(there) - bisect_left(there, price.amount)


def _best_asks(rows: list[PlannedPrice], *, at: datetime) -> list[BestAsk]:
    """
    Return the best asks that change, over nodes of every size.
    """
    places = {(row.offer.gpu_id, row.offer.region_id) for row in rows}
    new = {row.offer.pk: row.line.price for row in rows}
    before: dict[tuple[int, int], list[Money]] = defaultdict(list)
    after: dict[tuple[int, int], list[Money]] = defaultdict(list)
    offers: Any = Offer.objects.filter(
        gpu__in={gpu_id for gpu_id, _region_id in places}, free_nodes__gt=0
    )
    for offer in offers.listed(at).with_price(at):
        place = (offer.gpu_id, offer.region_id)
        is_live = offer.price_id is not None and not offer.is_stale
        price = Money(offer.hourly_amount, offer.hourly_currency) if is_live else None
        if price:
            before[place].append(price)
        if later := new.get(offer.pk, price):
            after[place].append(later)
    rates = exchange.rates(at=at)
    names = _Names(GpuModel.objects.in_bulk(), Region.objects.in_bulk())
    found = [
        names.best_ask(place, _least(before[place], rates), _least(after[place], rates))
        for place in places
    ]
    moved = [best for best in found if best.before != best.after]
    return sorted(moved, key=lambda best: (best.gpu, best.region))


class _Names(NamedTuple):
    gpus: Mapping[int, GpuModel]
    regions: Mapping[int, Region]

    def best_ask(
        self, place: tuple[int, int], before: Money | None, after: Money | None
    ) -> BestAsk:
        gpu_id, region_id = place
        gpu, region = self.gpus[gpu_id], self.regions[region_id]
        return BestAsk(gpu.label, region_city(region), before, after)


def _least(prices: list[Money], rates: Mapping[str, Decimal]) -> Money | None:
    def order(price: Money) -> tuple[bool, Decimal]:
        rate = rates.get(price.currency.code)
        return rate is None, price.amount * (rate or 1)

    return min(prices, key=order, default=None)
