"""
The asks that pages show, and how much is free for each.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import QuerySet
from djmoney.money import Money

from catalog import machines
from catalog.machines import Machine
from catalog.models.offers import OfferQuerySet

# From this many free nodes down, pages say that few are left.
FEW_NODES = 2

_COLUMNS = (
    "pk",
    "gpu_id",
    "region__slug",
    "region__name",
    "region__city",
    "supplier__name",
    "hourly_amount",
    "hourly_currency",
    "comparable_amount",
    "price_as_of",
    "is_stale",
    "gpus_per_node",
    "listed_at",
    "free_nodes",
)


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


def rows_of(offers: OfferQuerySet, *, at: datetime) -> QuerySet[Any]:
    """
    Return what `ask_of` reads of the offers at `at`: the live ones first, then by price.

    Offers without a price are left out.
    """
    priced: QuerySet[Any] = offers.with_price(at).fresh_first()
    return priced.values_list(*_COLUMNS, *machines.COLUMNS, named=True)


def ask_of(row: Any) -> Ask:
    """
    Return what one of `rows_of` asks.
    """
    return Ask(
        offer_id=row.pk,
        gpu_id=row.gpu_id,
        region=Place(
            slug=row.region__slug, name=row.region__name, city=row.region__city
        ),
        supplier=row.supplier__name,
        rate=Money(row.hourly_amount, row.hourly_currency),
        comparable=row.comparable_amount,
        listed_at=row.listed_at,
        as_of=row.price_as_of,
        is_stale=row.is_stale,
        gpus_per_node=row.gpus_per_node,
        free_nodes=row.free_nodes,
        machine=machines.machine_of(row),
    )
