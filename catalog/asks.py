"""
The asks that pages show: the best one of each GPU and region, and how much is free.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any, TypedDict

from django.contrib.postgres.fields import ArrayField
from django.db.models import DecimalField, F, Func, Min, Q, QuerySet, Sum
from djmoney.money import Money

from catalog import machines
from catalog.machines import Machine
from catalog.models import Offer
from catalog.models.offers import OfferQuerySet

# From this many free nodes down, pages say that few are left.
FEW_NODES = 2

_NUMBER: "DecimalField[Decimal, Decimal]" = DecimalField()
_COLUMNS = (
    "pk",
    "gpu_id",
    "region__slug",
    "region__name",
    "region__city",
    "supplier_id",
    "supplier__name",
    "hourly_amount",
    "hourly_currency",
    "price_as_of",
    "is_stale",
    "gpus_per_node",
    "listed_at",
    "free_nodes",
)


class _First(TypedDict):
    """
    What is known of the first offer of a place before its names are.
    """

    comparable: Decimal | None
    free_nodes: int


@dataclass(frozen=True, kw_only=True)
class Place:
    """
    A region, as far as an ask names it.
    """

    slug: str
    name: str
    city: str


@dataclass(frozen=True, kw_only=True)
class Ask:
    """
    What a supplier asks for one GPU-hour, ex tax, and how many nodes are free for it.

    `comparable` is the rate in the currency that asks are compared in, None where no
    exchange rate is known; it is never shown. `machine` is only read for lists of
    single offers.
    """

    offer_id: int
    gpu_id: int
    region: Place
    supplier: str
    rate: Money
    comparable: Decimal | None
    listed_at: datetime
    as_of: datetime
    is_stale: bool
    gpus_per_node: int
    free_nodes: int
    machine: Machine | None = None

    @property
    def price_order(self) -> tuple[bool, Decimal, datetime, int]:
        """
        Where it stands among asks in any currency, as `Offer.cheapest_first` has it.
        """
        is_unknown = self.comparable is None
        amount = self.rate.amount if self.comparable is None else self.comparable
        return is_unknown, amount, self.listed_at, self.offer_id

    @property
    def is_free(self) -> bool:
        return self.free_nodes > 0

    @property
    def is_few(self) -> bool:
        return 0 < self.free_nodes <= FEW_NODES


def best_asks(*, at: datetime, gpus: int | None = 1) -> dict[int, list[Ask]]:
    """
    Return, by GPU, the cheapest live ask of each region, the cheapest region first.

    Only nodes with exactly this many GPUs count, as nodes are let as a whole; with
    None those of every size do. The free nodes of an ask are those of all these
    offers of its GPU in its region.
    """
    live = Offer.objects.live(at)
    offers = live if gpus is None else live.of_size(gpus)
    firsts = _firsts_of_places(offers)
    # What is comparable is known by now: it takes long to ask for.
    rows = _rows(Offer.objects.with_version(at).filter(pk__in=firsts))
    return _by_gpu(_ask(row, **firsts[row.pk]) for row in rows)


def best_and_own_asks(
    *, supplier_id: int, at: datetime
) -> tuple[dict[int, list[Ask]], dict[int, list[Ask]]]:
    """
    Return what `best_asks` returns for single GPUs, and all that a supplier asks.

    The supplier's own asks count each offer alone, the stale ones among them last.
    """
    firsts = _firsts_of_places(Offer.objects.live(at).of_size(1))
    own = Offer.objects.of_size(1).filter(supplier=supplier_id).listed(at)
    priced = Offer.objects.with_price(at).fresh_first()
    rows = list(
        _rows(priced.filter(Q(pk__in=firsts) | Q(pk__in=own)), "comparable_amount")
    )
    best = [_ask(row, **firsts[row.pk]) for row in rows if row.pk in firsts]
    named = [
        _ask(row, comparable=row.comparable_amount, free_nodes=row.free_nodes)
        for row in rows
        if row.supplier_id == supplier_id
    ]
    return _by_gpu(best), _by_gpu(named)


def _firsts_of_places(offers: OfferQuerySet) -> dict[int, _First]:
    """
    Return what the first offer of each GPU and region asks, and all free nodes there.

    A single pass over the offers finds them, without sorting them.
    """
    places: QuerySet[Any] = offers.values("gpu_id", "region_id").annotate(
        free=Sum("free_nodes"), first=Min(_place_in_order())
    )
    firsts = places.order_by().values_list("first", "free")
    return {
        int(first[-1]): {"comparable": first[0], "free_nodes": nodes}
        for first, nodes in firsts
    }


def _rows(offers: QuerySet[Any], *more: str) -> QuerySet[Any]:
    return offers.values_list(*_COLUMNS, *more, named=True)


def _by_gpu(asks: Iterable[Ask]) -> dict[int, list[Ask]]:
    found: dict[int, list[Ask]] = {}
    for ask in sorted(asks, key=lambda ask: (ask.is_stale, *ask.price_order)):
        found.setdefault(ask.gpu_id, []).append(ask)
    return found


def _place_in_order() -> Func:
    """
    Return the order of `Offer.cheapest_first` as an array, with the key at its end.

    PostgreSQL compares arrays item by item and takes a null for the greatest.
    """
    age = Func(
        F("listed_at"),
        template="EXTRACT(EPOCH FROM %(expressions)s)",
        output_field=_NUMBER,
    )
    return Func(
        F("comparable_amount"),
        F("hourly_amount"),
        age,
        F("pk"),
        template="ARRAY[%(expressions)s]",
        output_field=ArrayField(_NUMBER),
    )


def asks_of(offers: OfferQuerySet, *, at: datetime) -> list[Ask]:
    """
    Return what the offers ask at `at`, the live ones first, then by price.

    Offers without a price are left out.
    """
    priced = offers.with_price(at).fresh_first()
    rows = _rows(priced, "comparable_amount", *machines.COLUMNS)
    return [
        _ask(
            row,
            comparable=row.comparable_amount,
            free_nodes=row.free_nodes,
            machine=machines.machine_of(row),
        )
        for row in rows
    ]


def best_of(asks: Iterable[Ask], *, gpus: int = 1) -> list[Ask]:
    """
    Return of one GPU's asks what `best_asks` returns for it, without asking again.
    """
    live = [
        ask
        for ask in asks
        if ask.is_free and not ask.is_stale and ask.gpus_per_node == gpus
    ]
    best: dict[Place, Ask] = {}
    free: Counter[Place] = Counter()
    for ask in sorted(live, key=lambda ask: ask.price_order):
        best.setdefault(ask.region, ask)
        free[ask.region] += ask.free_nodes
    return [replace(ask, free_nodes=free[ask.region]) for ask in best.values()]


def _ask(
    row: Any,
    *,
    comparable: Decimal | None,
    free_nodes: int,
    machine: Machine | None = None,
) -> Ask:
    return Ask(
        offer_id=row.pk,
        gpu_id=row.gpu_id,
        region=Place(
            slug=row.region__slug, name=row.region__name, city=row.region__city
        ),
        supplier=row.supplier__name,
        rate=Money(row.hourly_amount, row.hourly_currency),
        comparable=comparable,
        listed_at=row.listed_at,
        as_of=row.price_as_of,
        is_stale=row.is_stale,
        gpus_per_node=row.gpus_per_node,
        free_nodes=free_nodes,
        machine=machine,
    )
