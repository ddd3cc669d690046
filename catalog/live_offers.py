"""
The live offers one by one: what the API and the files for other tools hand out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from catalog.models import Offer
from catalog.models.offers import CHEAPEST_FIRST


@dataclass(frozen=True, slots=True)
class LiveOffer:
    """
    An offer that can be reserved now; `amount` is the price of one GPU for an hour.

    `comparable` is that price in the currency that asks are compared in, None where no
    exchange rate is known.
    """

    offer_id: int
    gpu: str
    gpu_label: str
    gpu_vendor: str
    gpu_memory_gb: Decimal
    region: str
    country: str
    supplier: str
    supplier_slug: str
    is_supplier_verified: bool
    is_demo: bool
    gpus_per_node: int
    free_nodes: int
    amount: Decimal
    currency: str
    comparable: Decimal | None
    as_of: datetime
    listed_at: datetime
    available_until: datetime | None


# In the order of the fields above.
COLUMNS = (
    "pk",
    "gpu__slug",
    "gpu__label",
    "gpu__vendor",
    "gpu__memory_gb",
    "region__slug",
    "region__country",
    "supplier__name",
    "supplier__slug",
    "supplier__is_verified",
    "supplier__is_demo",
    "gpus_per_node",
    "free_nodes",
    "hourly_amount",
    "hourly_currency",
    "comparable_amount",
    "price_as_of",
    "listed_at",
    "available_until",
)


def read_live_offers(
    *, at: datetime, lookups: Mapping[str, Any], first: int, most: int
) -> tuple[list[LiveOffer], int]:
    """
    Return a part of the live offers, cheapest first, and how many there are in all.
    """
    live = Offer.objects.live(at).filter(**lookups)
    keys = list(live.cheapest_first().values_list("pk", flat=True)[first:][:most])
    # Names are only looked up for what is shown, not for all that is sorted.
    named = Offer.objects.with_price(at).filter(pk__in=keys).values_list(*COLUMNS)
    found = {row[0]: LiveOffer(*row) for row in named}
    return [found[key] for key in keys], live.count()


def all_live_offers(*, at: datetime) -> list[LiveOffer]:
    """
    Return every live offer: by GPU and region, there the cheapest first.
    """
    live = Offer.objects.live(at)
    ordered = live.order_by("gpu__slug", "region__slug", *CHEAPEST_FIRST)
    return [LiveOffer(*row) for row in ordered.values_list(*COLUMNS)]
