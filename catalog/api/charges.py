"""
What a rental costs: hours times GPUs times price, and storage.
"""

from http import HTTPStatus
from typing import Any

from django.http import HttpRequest
from django.utils.translation import gettext_noop as _
from djmoney.money import Money
from ninja import Query, Router

import clock
from catalog.api import parts, schemas
from catalog.api.parameters import CostParameters, GpuSlug
from catalog.api.problems import CannotAnswer
from catalog.asks import Ask
from catalog.best_asks import best_asks_of
from catalog.costs import cost_window
from catalog.models import GpuModel, StoragePlan

router = Router()


@router.get(
    "/gpus/{slug}/cost",
    response=schemas.Cost,
    url_name="cost",
    summary=_("What a rental costs at the best ask, with its storage"),
)
def get_cost(
    request: HttpRequest,
    asked: Query[CostParameters],
    slug: str = GpuSlug,
) -> dict[str, Any]:
    gpu = parts.find_gpu(slug)
    ask = _ask(gpu, asked)
    plan = _plan(asked, currency=ask.rate.currency.code) if asked.storage_gb else None
    rate = Money(plan.monthly_price.amount, ask.rate.currency) if plan else None
    cost = cost_window(
        hours=asked.hours,
        gpus=asked.gpus,
        rate=ask.rate,
        storage_gb=asked.storage_gb,
        storage_rate=rate,
        kept_days=asked.kept_days,
    )
    return {
        "gpu": gpu.slug,
        "gpus": asked.gpus,
        "hours": asked.hours,
        "storage_gb": asked.storage_gb,
        "kept_days": asked.kept_days,
        "ask": parts.best_ask(ask),
        "storage_plan": plan.slug if plan else None,
        "storage_price_per_gb_month": parts.price(rate) if rate else None,
        "compute": parts.price(cost.compute),
        "storage": parts.price(cost.storage),
        "kept_storage": parts.price(cost.kept_storage),
        "total": parts.price(cost.total),
    }


def _ask(gpu: GpuModel, asked: CostParameters) -> Ask:
    """
    Return the best ask for nodes of this size.

    :raises CannotAnswer: if nobody offers any there
    """
    for ask in best_asks_of(gpu_id=gpu.pk, at=clock.now(), gpus=asked.gpus):
        if asked.region in (None, ask.region.slug):
            return ask
    raise CannotAnswer(
        HTTPStatus.NOT_FOUND,
        f"Nobody offers a free node with {asked.gpus} × {gpu.label} there now."
        f" GET /api/v1/offers?gpu={gpu.slug} shows what there is.",
    )


def _plan(asked: CostParameters, *, currency: str) -> StoragePlan:
    """
    Return the storage plan, that of the planner if none is named.

    :raises CannotAnswer: if there is none, or it cannot be had like this
    """
    listed = StoragePlan.objects.filter(is_listed=True).order_by("position", "pk")
    named = listed.filter(slug=asked.storage_plan)
    plan = (named if asked.storage_plan else listed.filter(is_persistent=True)).first()
    if plan is None:
        known = ", ".join(listed.values_list("slug", flat=True))
        raise CannotAnswer(
            HTTPStatus.NOT_FOUND, f"No such storage plan; there are: {known}."
        )
    if asked.kept_days > plan.kept_days_after:
        raise CannotAnswer(
            HTTPStatus.CONFLICT,
            f"The plan {plan.slug} keeps data for {plan.kept_days_after} days at"
            " most: ask for fewer kept_days.",
        )
    # Nothing is converted unseen.
    if plan.monthly_price.currency.code != currency:
        raise CannotAnswer(
            HTTPStatus.CONFLICT,
            f"This GPU is asked in {currency}, storage is priced in"
            f" {plan.monthly_price.currency.code}: ask for the cost without storage.",
        )
    return plan
