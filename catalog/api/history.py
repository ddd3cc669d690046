"""
What was asked for a GPU over time.
"""

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext_noop as _
from ninja import Query, Router

import clock
from catalog.api import parts, schemas
from catalog.api.parameters import GpuSlug, HistoryParameters
from catalog.api.problems import CannotAnswer
from catalog.best_asks import best_asks_of
from catalog.models import GpuModel, Offer, Region
from catalog.price_history import Point, read_history
from money import plain

router = Router()


@router.get(
    "/gpus/{slug}/price-history",
    response=schemas.PriceHistory,
    url_name="price_history",
    summary=_("What was asked for a GPU in a region, day by day"),
)
def get_price_history(
    request: HttpRequest,
    asked: Query[HistoryParameters],
    slug: str = GpuSlug,
) -> dict[str, Any]:
    # Full minutes only, so that an answer stays the same for as long as it is kept.
    at = clock.now().replace(second=0, microsecond=0)
    gpu = parts.find_gpu(slug)
    region = _region(gpu, asked.region)
    history = read_history(
        gpu_id=gpu.pk,
        region_id=region.pk,
        days=asked.days,
        at=at,
        currency=asked.currency or "",
    )
    if asked.currency and history.currency != asked.currency:
        raise CannotAnswer(
            HTTPStatus.NOT_FOUND,
            f"Nobody asked in {asked.currency} there in these days:"
            " leave the currency out.",
        )
    return {
        "gpu": gpu.slug,
        "region": region.slug,
        "currency": history.currency,
        "currencies": history.currencies,
        "days": asked.days,
        "points": [_point(point) for point in history.points],
    }


def _region(gpu: GpuModel, slug: str | None) -> Region:
    offered = Offer.objects.filter(gpu=gpu).values("region")
    regions = {each.slug: each for each in Region.objects.filter(pk__in=offered)}
    if slug is None:
        best = best_asks_of(gpu_id=gpu.pk, at=clock.now())
        slug = best[0].region.slug if best else next(iter(sorted(regions)), None)
    if slug not in regions:
        raise CannotAnswer(
            HTTPStatus.NOT_FOUND,
            f"{gpu.label} was never offered there. GET /api/v1/offers?gpu={gpu.slug}"
            " shows where it is offered now.",
        )
    return regions[slug]


def _point(point: Point) -> dict[str, Any]:
    found = point.figures
    return {
        "at": point.at,
        "asks": found.asks if found else 0,
        "best_ask_amount": plain(found.best) if found else None,
        "p10_amount": plain(found.low) if found else None,
        "median_amount": plain(found.median) if found else None,
        "p90_amount": plain(found.high) if found else None,
    }
