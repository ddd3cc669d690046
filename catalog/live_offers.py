"""
The live offers one by one: what the API and the files for other tools hand out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Generic, TypeVar

from django.db.models import Count, F, Func, TextField, Window

from catalog import machines
from catalog.models import Offer
from catalog.models.offers import CHEAPEST_FIRST

Time = TypeVar("Time", datetime, str)


@dataclass(frozen=True, slots=True)
class LiveOffer(Generic[Time]):
    """
    An offer that can be reserved now; `amount` is the price of one GPU for an hour.

    `comparable` is that price in the currency that asks are compared in, None where no
    exchange rate is known. The last five describe the machine of a node, see
    `catalog.machines`, and are None where nothing is known of it.
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
    as_of: Time
    listed_at: Time
    available_until: Time | None
    cpu_cores: int | None
    ram_gb: int | None
    disk_gb: int | None
    network_gbps: Decimal | None
    cuda_version: str | None


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
    *machines.COLUMNS,
)


TIMES = ("price_as_of", "listed_at", "available_until")


def read_live_offers(
    *, at: datetime, lookups: Mapping[str, Any], first: int, most: int
) -> tuple[list[LiveOffer[datetime]], int]:
    """
    Return a part of the live offers, cheapest first, and how many there are in all.
    """
    live = Offer.objects.live(at).filter(**lookups)
    counted = live.cheapest_first().annotate(total=Window(Count("pk")))
    part = list(counted.values_list("pk", "total")[first:][:most])
    # Names are only looked up for what is shown, not for all that is sorted.
    keys = [key for key, _total in part]
    named = Offer.objects.with_price(at).filter(pk__in=keys).values_list(*COLUMNS)
    found = {row[0]: LiveOffer(*row) for row in named}
    total = part[0][1] if part else live.count()
    return [found[key] for key in keys], total


def all_live_offers(*, at: datetime) -> list[LiveOffer[str]]:
    """
    Return every live offer: by GPU and region, there the cheapest first.

    Times are text (ISO 8601 in UTC): read as times, they are most of the work.
    """
    live = Offer.objects.live(at).annotate(
        **{f"{name}_text": _iso(name) for name in TIMES}
    )
    ordered = live.order_by("gpu__slug", "region__slug", *CHEAPEST_FIRST)
    columns = [f"{name}_text" if name in TIMES else name for name in COLUMNS]
    return [LiveOffer(*row) for row in ordered.values_list(*columns)]


def _iso(name: str) -> Func:
    return Func(
        F(name),
        template="replace(to_char(%(expressions)s AT TIME ZONE 'UTC',"
        """ 'YYYY-MM-DD"T"HH24:MI:SS.US"+00:00"'), '.000000', '')""",
        output_field=TextField(),
    )
