"""
The order book of one GPU, as everybody may see it: asks, and demand without names.

Whoever waits is shown in groups of three renters or more, so that no limit is one
person's.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import ROUND_DOWN, Decimal
from itertools import groupby
from typing import Any

from django.contrib.postgres.aggregates import ArrayAgg
from django.db.models import Count, Q, QuerySet
from djmoney.money import Money

from catalog.models import Offer, Region
from catalog.models.offers import CHEAPEST_FIRST
from marketplace import curves
from marketplace.curves import DepthChart, Step
from marketplace.demand import FEWEST_RENTERS
from marketplace.models import User
from workspaces.models import Workspace
from workspaces.queueing import BOOK_CURRENCY, ranked

CENT = Decimal("0.01")
LEVELS_SHOWN = 40


@dataclass
class Level:
    """
    What is asked at one price in one region, over all suppliers.
    """

    region: Region
    price: Money
    gpus_per_node: int
    nodes: int
    suppliers: list[str] = field(default_factory=list)


@dataclass
class LimitGroup:
    """
    Requests whose limits lie between `low` and `high`, both in the book's currency.
    """

    low: Decimal
    high: Decimal
    requests: int
    renters: set[int]

    @property
    def lowest(self) -> Money:
        return Money(self.low, BOOK_CURRENCY)

    @property
    def highest(self) -> Money:
        return Money(self.high, BOOK_CURRENCY)


@dataclass(frozen=True, kw_only=True)
class OrderBook:
    """
    One GPU's book for nodes of one size, in one region or in all.

    `waiting` counts every request; `groups` is empty while too few people wait to be
    shown.
    """

    offers: list[Any]
    levels: list[Level]
    groups: list[LimitGroup]
    waiting: int
    waiting_in_all: int
    chart: DepthChart | None
    gpus: int
    region: str
    sizes: list[int]
    regions: list[Region]

    @property
    def currency(self) -> str:
        return BOOK_CURRENCY

    @property
    def nodes(self) -> int:
        return sum(level.nodes for level in self.levels)

    @property
    def cheapest_levels(self) -> list[Level]:
        return self.levels[:LEVELS_SHOWN]

    @property
    def nodes_beyond(self) -> int:
        """
        Return how many nodes are asked above the levels that a page lists.
        """
        return sum(level.nodes for level in self.levels[LEVELS_SHOWN:])


def order_book_of(
    *,
    gpu_id: int,
    at: datetime,
    gpus: int | None = None,
    region: str = "",
    reader: User | None = None,
) -> OrderBook:
    """
    Return the book; a size or region that is in no ask and no request falls back to
    the smallest size, and to all regions.

    Each offer says whether it `is_own`: the reader's, who cannot be given it.
    """
    offers = _offers(gpu_id, at, reader)
    regions = {offer.region.slug: offer.region for offer in offers}
    region = region if region in regions else ""
    demand = _demand(gpu_id, region)
    sizes = sorted({offer.gpus_per_node for offer in offers} | set(demand))
    if gpus is None or gpus not in sizes:
        gpus = next(iter(sizes), 1)
    shown = [
        offer
        for offer in offers
        if offer.gpus_per_node == gpus and region in {"", offer.region.slug}
    ]
    rows = demand.get(gpus, [])
    groups = merged(rows)
    return OrderBook(
        offers=offers,
        levels=levels_of(shown),
        groups=groups,
        waiting=sum(row.requests for row in rows),
        waiting_in_all=sum(row.requests for rows in demand.values() for row in rows),
        chart=_chart(shown, groups),
        gpus=gpus,
        region=region,
        sizes=sizes,
        regions=sorted(regions.values(), key=lambda each: each.name),
    )


def _chart(offers: Iterable[Any], groups: Iterable[LimitGroup]) -> DepthChart | None:
    return curves.draw(
        asks=[
            Step(offer.comparable_amount, offer.free_nodes)
            for offer in offers
            if offer.comparable_amount is not None
        ],
        bids=[Step(group.low, group.requests) for group in groups],
    )


def levels_of(offers: Iterable[Any]) -> list[Level]:
    """
    Return the asks by price and region, in the order of the offers.
    """
    levels = []
    for (price, _region, gpus), group in groupby(offers, key=_level_key):
        there = list(group)
        levels.append(
            Level(
                region=there[0].region,
                price=price,
                gpus_per_node=gpus,
                nodes=sum(offer.free_nodes for offer in there),
                suppliers=[offer.supplier.name for offer in there],
            )
        )
    return levels


def merged(rows: Iterable[LimitGroup]) -> list[LimitGroup]:
    """
    Merge neighbours, the highest limits first, until each group has enough renters.

    What is left at the end joins the last group; too few in all are not shown.
    """
    groups: list[LimitGroup] = []
    rest: LimitGroup | None = None
    for row in sorted(rows, key=lambda row: row.low, reverse=True):
        rest = _joined(rest, row) if rest else row
        if len(rest.renters) >= FEWEST_RENTERS:
            groups.append(rest)
            rest = None
    if rest and groups:
        groups[-1] = _joined(groups[-1], rest)
    return groups


def _joined(upper: LimitGroup, lower: LimitGroup) -> LimitGroup:
    return LimitGroup(
        low=lower.low,
        high=upper.high,
        requests=upper.requests + lower.requests,
        renters=upper.renters | lower.renters,
    )


def _offers(gpu_id: int, at: datetime, reader: User | None) -> list[Any]:
    own = reader.own_offers() if reader else Offer.objects.none()
    offers: QuerySet[Any] = Offer.objects.live(at).filter(gpu_id=gpu_id)
    return list(
        offers.annotate(is_own=Q(pk__in=own))
        .select_related("region", "supplier")
        .order_by(
            *CHEAPEST_FIRST[:2],
            "hourly_currency",
            "region__slug",
            "gpus_per_node",
            "listed_at",
        )
    )


def _demand(gpu_id: int, region: str) -> dict[int, list[LimitGroup]]:
    """
    Return what waits, to the cent of its limit, by the size of node that it needs.
    """
    waiting = Workspace.objects.waiting().filter(gpu_id=gpu_id)
    if region:
        waiting = waiting.filter(regions__contains=[region])
    rows = (
        ranked(waiting)
        .order_by()
        .values_list("gpus", "rank")
        .annotate(requests=Count("pk"), renters=ArrayAgg("user_id", distinct=True))
    )
    demand: dict[int, list[LimitGroup]] = {}
    for gpus, rank, requests, renters in rows:
        # Rounded down, because nobody would pay the cent above.
        limit = rank.quantize(CENT, rounding=ROUND_DOWN)
        group = LimitGroup(limit, limit, requests, set(renters))
        demand.setdefault(gpus, []).append(group)
    return demand


def _level_key(offer: Any) -> tuple[Money, str, int]:
    price = Money(offer.hourly_amount, offer.hourly_currency)
    return price, offer.region.slug, offer.gpus_per_node
