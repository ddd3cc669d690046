"""
How the things of the catalog are said in the API's words.
"""

from collections.abc import Sequence
from decimal import Decimal
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.http import HttpRequest
from djmoney.money import Money

from catalog.api.parameters import ListParameters
from catalog.api.problems import CannotAnswer
from catalog.asks import Ask
from catalog.models import GpuModel
from money import plain, round_half_up

MEMORY_PLACES = 2


def page(
    request: HttpRequest, asked: ListParameters, items: Sequence[Any], *, total: int
) -> dict[str, Any]:
    """
    Return one part of a list with the address of the next part.
    """
    following = asked.offset + asked.limit
    query = urlencode({**request.GET.dict(), "offset": following, "limit": asked.limit})
    address = f"{settings.SITE_URL}{request.path}?{query}"
    return {
        "items": items,
        "total": total,
        "limit": asked.limit,
        "offset": asked.offset,
        "next": address if following < total else None,
    }


def price(money: Money) -> dict[str, str]:
    return {"amount": plain(money.amount), "currency": money.currency.code}


def best_ask(ask: Ask) -> dict[str, Any]:
    return {
        "offer_id": ask.offer_id,
        "region": ask.region.slug,
        "supplier": ask.supplier,
        "price_per_gpu_hour": price(ask.rate),
        "as_of": ask.as_of,
        "gpus_per_node": ask.gpus_per_node,
        "free_nodes": ask.free_nodes,
    }


def figure(value: Decimal | None) -> str | None:
    """
    Write a figure without zeros at its end.
    """
    if value is None:
        return None
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def memory(value: Decimal) -> str | None:
    return figure(round_half_up(value, MEMORY_PLACES))


def absolute(path: str) -> str:
    return f"{settings.SITE_URL}{path}"


def find_gpu(slug: str) -> GpuModel:
    """
    Return a GPU by its slug.

    :raises CannotAnswer: if there is none
    """
    gpu = GpuModel.objects.filter(slug=slug).first()
    if gpu is None:
        raise CannotAnswer(
            HTTPStatus.NOT_FOUND,
            f"No GPU has the slug {slug}. GET /api/v1/gpus lists them all.",
        )
    return gpu
