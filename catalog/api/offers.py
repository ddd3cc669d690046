"""
The live offers: as a list, and as files for spreadsheets and other tools.
"""

from collections.abc import Callable, Iterable
from datetime import datetime
from http import HTTPStatus
from typing import Any

from django.db.models import Model
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_noop as _
from djmoney.money import Money
from ninja import Query, Router

import clock
from catalog.api import parts, schemas, sheets
from catalog.api.parameters import OfferParameters, refuse_parameters
from catalog.api.problems import CannotAnswer
from catalog.live_offers import LiveOffer, all_live_offers, read_live_offers
from catalog.models import GpuModel, Region, Supplier

router = Router()

CSV_TYPE = "text/csv"
CSV_ANSWER = {
    "responses": {
        200: {
            "description": "OK",
            "content": {CSV_TYPE: {"schema": {"type": "string"}}},
        }
    }
}


@router.get(
    "/offers",
    response=schemas.Page[schemas.Offer],
    url_name="offers",
    summary=_("What suppliers ask now and have a node free for, cheapest first"),
)
def list_offers(request: HttpRequest, asked: Query[OfferParameters]) -> dict[str, Any]:
    offers, total = read_live_offers(
        at=clock.now(), lookups=asked.lookups(), first=asked.offset, most=asked.limit
    )
    if not total:
        _refuse_unknown(asked)
    return parts.page(request, asked, [_offer(each) for each in offers], total=total)


@router.get(
    "/offers.csv",
    response={200: None},
    url_name="offers_csv",
    summary=_("All live offers as CSV"),
    openapi_extra=CSV_ANSWER,
)
def offers_csv(request: HttpRequest) -> HttpResponse:
    refuse_parameters(request)
    return _file("corehour-offers.csv", sheets.offers)


@router.get(
    "/catalogs/gpuhunt.csv",
    response={200: None},
    url_name="gpuhunt_csv",
    summary=_("All live offers in the columns of gpuhunt, dstack's catalog"),
    openapi_extra=CSV_ANSWER,
)
def gpuhunt_csv(request: HttpRequest) -> HttpResponse:
    refuse_parameters(request)
    return _file("corehour.csv", sheets.gpuhunt)


@router.get(
    "/catalogs/skypilot.csv",
    response={200: None},
    url_name="skypilot_csv",
    summary=_("All live offers in the columns of SkyPilot's catalogs"),
    openapi_extra=CSV_ANSWER,
)
def skypilot_csv(request: HttpRequest) -> HttpResponse:
    refuse_parameters(request)
    return _file("vms.csv", sheets.skypilot)


def _file(
    name: str, lines_of: Callable[[Iterable[LiveOffer[str]]], Iterable[str]]
) -> HttpResponse:
    lines = lines_of(all_live_offers(at=clock.now()))
    # In one piece: each line would be encoded by itself.
    response = HttpResponse("".join(lines), content_type=f"{CSV_TYPE}; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _refuse_unknown(asked: OfferParameters) -> None:
    """
    Tell nothing that is offered from a name that was mistyped.

    :raises CannotAnswer: if a name is not known
    """
    kinds: dict[str, tuple[str | None, type[Model]]] = {
        "gpu": (asked.gpu, GpuModel),
        "region": (asked.region, Region),
        "supplier": (asked.supplier, Supplier),
    }
    for name, (slug, kind) in kinds.items():
        if slug and not kind._default_manager.filter(slug=slug).exists():
            raise CannotAnswer(
                HTTPStatus.NOT_FOUND,
                f"No {name} has the slug {slug}. GET /api/v1/offers without filters"
                " shows the slugs of what is offered.",
            )


def _offer(offer: LiveOffer[datetime]) -> dict[str, Any]:
    return {
        "id": offer.offer_id,
        "gpu": offer.gpu,
        "region": offer.region,
        "country_code": offer.country,
        "supplier": offer.supplier,
        "supplier_slug": offer.supplier_slug,
        "is_supplier_verified": offer.is_supplier_verified,
        "is_demo": offer.is_demo,
        "gpus_per_node": offer.gpus_per_node,
        "free_nodes": offer.free_nodes,
        "price_per_gpu_hour": parts.price(Money(offer.amount, offer.currency)),
        "as_of": offer.as_of,
        "listed_at": offer.listed_at,
        "available_until": offer.available_until,
        "cpu_cores": offer.cpu_cores,
        "ram_gb": offer.ram_gb,
        "disk_gb": offer.disk_gb,
        "network_gbit_per_s": parts.figure(offer.network_gbps),
        "cuda_version": offer.cuda_version,
    }
