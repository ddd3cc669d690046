"""
The best ask of each GPU and region, which most pages of the catalog begin with.

One statement by hand, because the price of every offer is looked at for each of these
pages. It keeps the offers that `Offer.objects.live` keeps, in the order that its
`cheapest_first` has; a test holds the two against each other.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import connection
from djmoney.money import Money

from catalog import exchange
from catalog.asks import Ask, Place, ask_of, rows_of
from catalog.models import Offer

COMPARABLE = exchange.comparable_sql("hourly_price", "hourly_price_currency", "%(day)s")
# The current version of a price is nearly always the one without an end, and an index
# has all that is asked of those. The first of a place is the least of its rows, item
# by item: a null is greater than anything, and no two offers have the same id.
BEST = f"""
WITH price AS (
    SELECT id, offer_id, hourly_price, hourly_price_currency
    FROM catalog_offerprice
    WHERE valid_to IS NULL AND valid_from <= %(at)s AND confirmed_at >= %(freshest)s
    UNION ALL
    SELECT id, offer_id, hourly_price, hourly_price_currency
    FROM catalog_offerprice
    WHERE valid_to > %(at)s AND valid_from <= %(at)s AND confirmed_at >= %(freshest)s
), place AS MATERIALIZED (
    SELECT
        sum(offer.free_nodes) AS free_nodes,
        to_jsonb(min(ROW({COMPARABLE}, hourly_price, listed_at, offer.id, price.id)))
            AS first
    FROM catalog_offer AS offer JOIN price ON price.offer_id = offer.id
    WHERE is_listed AND free_nodes > 0
        AND (available_until IS NULL OR available_until > %(at)s)
        AND (%(gpus)s::int IS NULL OR gpus_per_node = %(gpus)s)
        AND (%(gpu_id)s::bigint IS NULL OR gpu_id = %(gpu_id)s)
    GROUP BY gpu_id, region_id
)
SELECT
    offer.gpu_id, offer.id, region.slug, region.name, region.city, supplier.name,
    price.hourly_price, price.hourly_price_currency, (first ->> 'f1')::numeric,
    offer.listed_at, price.confirmed_at, offer.gpus_per_node, place.free_nodes
FROM place
JOIN catalog_offer AS offer ON offer.id = (first ->> 'f4')::bigint
JOIN catalog_offerprice AS price ON price.id = (first ->> 'f5')::bigint
JOIN catalog_region AS region ON region.id = offer.region_id
JOIN catalog_supplier AS supplier ON supplier.id = offer.supplier_id
"""  # noqa: S608 - constant text


def best_asks(*, at: datetime, gpus: int | None = 1) -> dict[int, list[Ask]]:
    """
    Return, by GPU, the cheapest live ask of each region, the cheapest region first.

    Only nodes with exactly this many GPUs count, as nodes are let as a whole; with
    None those of every size do. The free nodes of an ask are those of all these
    offers of its GPU in its region.
    """
    return _by_gpu(_read(at=at, gpus=gpus, gpu_id=None))


def best_asks_of(*, gpu_id: int, at: datetime, gpus: int | None = 1) -> list[Ask]:
    """
    Return what `best_asks` returns for one GPU.
    """
    return _by_gpu(_read(at=at, gpus=gpus, gpu_id=gpu_id)).get(gpu_id, [])


def own_asks(*, supplier_id: int, at: datetime) -> dict[int, list[Ask]]:
    """
    Return, by GPU, all that a supplier asks for single GPUs, the stale asks last.
    """
    own = Offer.objects.of_size(1).filter(supplier=supplier_id).listed(at)
    return _by_gpu(ask_of(row) for row in rows_of(own, at=at))


def _by_gpu(asks: Iterable[Ask]) -> dict[int, list[Ask]]:
    found: dict[int, list[Ask]] = {}
    for ask in sorted(asks, key=lambda ask: (ask.is_stale, *ask.price_order)):
        found.setdefault(ask.gpu_id, []).append(ask)
    return found


def _read(*, at: datetime, gpus: int | None, gpu_id: int | None) -> list[Ask]:
    question: dict[str, Any] = {
        "at": at,
        "freshest": at - timedelta(days=settings.PRICE_STALE_DAYS),
        "day": exchange.newest_name(at),
        "gpus": gpus,
        "gpu_id": gpu_id,
    }
    with connection.cursor() as cursor:
        cursor.execute(BEST, question)
        return [
            Ask(
                gpu_id=gpu,
                offer_id=offer,
                region=Place(slug=slug, name=name, city=city),
                supplier=supplier,
                rate=Money(price, currency),
                comparable=comparable,
                listed_at=listed_at,
                as_of=as_of,
                is_stale=False,
                gpus_per_node=size,
                free_nodes=int(free),
            )
            for (
                gpu, offer, slug, name, city, supplier, price, currency, comparable,
                listed_at, as_of, size, free,
            ) in cursor.fetchall()
        ]  # fmt: skip
