"""
The asks that pages show: the best one of each GPU and region, and how much is free.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, QuerySet, Sum, Window
from djmoney.money import Money

from catalog.models import Offer, Region, Supplier
from catalog.models.offers import OfferQuerySet

# From this many free nodes down, pages say that few are left.
FEW_NODES = 2


@dataclass(frozen=True, kw_only=True)
class Ask:
    """
    What a supplier asks for one GPU-hour, ex tax, and how many nodes are free for it.
    """

    offer_id: int
    gpu_id: int
    region: Region
    supplier: Supplier
    rate: Money
    as_of: datetime
    is_stale: bool
    gpus_per_node: int
    free_nodes: int

    @property
    def is_free(self) -> bool:
        return self.free_nodes > 0

    @property
    def is_few(self) -> bool:
        return 0 < self.free_nodes <= FEW_NODES


def best_asks(*, at: datetime, gpus: int = 1) -> dict[int, list[Ask]]:
    """
    Return, by GPU, the cheapest live ask of each region, the cheapest region first.

    Only nodes with exactly this many GPUs count: nodes are let as a whole. The free
    nodes of an ask are those of all live offers of this GPU in its region.
    """
    offers: QuerySet[Any] = Offer.objects.live(at).of_size(gpus)
    free_there = Window(Sum("free_nodes"), partition_by=[F("gpu_id"), F("region_id")])
    cheapest = offers.annotate(free_there=free_there).cheapest_per("gpu", "region")
    found: dict[int, list[Ask]] = {}
    ordered = sorted(
        cheapest.select_related("region", "supplier"),
        key=lambda offer: (offer.hourly_amount, offer.listed_at, offer.pk),
    )
    for offer in ordered:
        ask = _ask(offer, free_nodes=offer.free_there)
        found.setdefault(offer.gpu_id, []).append(ask)
    return found


def asks_of(offers: OfferQuerySet, *, at: datetime) -> list[Ask]:
    """
    Return what the offers ask at `at`, the live ones first, then by price.

    Offers without a price are left out.
    """
    priced: QuerySet[Any] = offers.with_price(at).fresh_first()
    found = priced.select_related("region", "supplier")
    return [_ask(offer, free_nodes=offer.free_nodes) for offer in found]


def _ask(offer: Any, *, free_nodes: int) -> Ask:
    return Ask(
        offer_id=offer.pk,
        gpu_id=offer.gpu_id,
        region=offer.region,
        supplier=offer.supplier,
        rate=Money(offer.hourly_amount, offer.hourly_currency),
        as_of=offer.price_as_of,
        is_stale=offer.is_stale,
        gpus_per_node=offer.gpus_per_node,
        free_nodes=free_nodes,
    )
