"""
The planner's answer: which GPUs a fine-tune fits.
"""

from decimal import Decimal
from http import HTTPStatus
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext_noop as _
from ninja import Query, Router

import clock
from catalog.api import parts, schemas
from catalog.api.parameters import EstimateParameters, OwnEstimateParameters
from catalog.api.problems import CannotAnswer
from catalog.changes import Option
from catalog.costs import Cost
from catalog.forms import OWN, PlannerState
from catalog.models import BaseModel
from catalog.planner import Plan, Row, Wanted, make_plan

router = Router()


@router.get(
    "/estimate",
    response=schemas.Estimate,
    url_name="estimate",
    summary=_("Which GPUs a fine-tune fits, and what it costs there"),
)
def get_estimate(
    request: HttpRequest,
    asked: Query[EstimateParameters],  # type: ignore[valid-type]
) -> dict[str, Any]:
    return _answer(dict(asked))


@router.get(
    "/estimate/own",
    response=schemas.Estimate,
    url_name="own_estimate",
    summary=_("The same for a model of your own, by its sizes"),
)
def get_own_estimate(
    request: HttpRequest,
    asked: Query[OwnEstimateParameters],  # type: ignore[valid-type]
) -> dict[str, Any]:
    return _answer({"source": OWN, **dict(asked)})


def _answer(asked: dict[str, Any]) -> dict[str, Any]:
    gpu = asked.pop("gpu")
    if gpu is not None:
        parts.find_gpu(gpu)
    wanted = _wanted(asked)
    plan = make_plan(wanted, at=clock.now())
    rows = [row for row in plan.rows if gpu in (None, row.gpu.slug)]
    return {
        "model": None if wanted.is_own else wanted.state["model"],
        "method": wanted.state["method"],
        "gpus": wanted.training.gpus,
        "needed_gb": parts.memory(plan.needed_gb),
        "wide_gb": parts.memory(plan.wide_gb),
        "parts": [
            {"part": each["part"], "memory_gb": parts.memory(each["value"])}
            for each in plan.parts
        ],
        "evidence": wanted.evidence.value,
        "storage_plan": plan.storage_plan.slug if plan.storage_plan else None,
        "planner_url": _planner_url(urlencode(wanted.state)),
        "rows": [_row(row, plan) for row in rows],
    }


def _wanted(asked: dict[str, Any]) -> Wanted:
    """
    Return what the planner's form makes of it: the same as from its address.

    :raises CannotAnswer: if the model is not known, or reads less at once
    """
    models = BaseModel.objects.filter(is_listed=True)
    query = {name: str(value) for name, value in asked.items() if value is not None}
    state = PlannerState(query, models=models)
    if not state.is_valid():
        raise _refusal(state)
    wanted = state.wanted()
    if wanted.is_too_long:
        raise CannotAnswer(
            HTTPStatus.CONFLICT,
            f"{wanted.name} reads {wanted.longest} tokens at most:"
            " ask for a shorter sequence_length.",
        )
    return wanted


def _refusal(state: PlannerState) -> CannotAnswer:
    """
    Say what the description of the parameters cannot: what else the forms refuse.
    """
    if state.shape is None:
        told = " ".join(str(each) for each in state.form.errors["model"])
        return CannotAnswer(
            HTTPStatus.NOT_FOUND, f"{told} GET /api/v1/models lists them all."
        )
    told = "; ".join(
        f"{name}: {' '.join(str(each) for each in errors)}"
        for name, errors in state.shape.errors.items()
    )
    return CannotAnswer(HTTPStatus.CONFLICT, told)


def _row(row: Row, plan: Plan) -> dict[str, Any]:
    costs = dict(row.windows)
    if row.cost is not None:
        costs[plan.wanted.hours] = row.cost
    return {
        "gpu": row.gpu.slug,
        "verdict": row.verdict.value,
        "usable_gb": parts.memory(row.room_gb),
        "missing_gb": parts.memory(max(row.missing_gb, Decimal(0))),
        "changes": [_change(option) for option in row.options],
        "best_asks": [parts.best_ask(ask) for ask in row.asks],
        "costs": [_cost(hours, cost) for hours, cost in sorted(costs.items())],
    }


def _change(option: Option) -> dict[str, Any]:
    return {
        "change": option.label,
        "needed_gb": parts.memory(option.needed_gb),
        "verdict": option.verdict.value,
        "is_provisional": option.is_provisional,
        "planner_url": _planner_url(option.query),
    }


def _cost(hours: int, cost: Cost) -> dict[str, Any]:
    return {
        "hours": hours,
        "compute": parts.price(cost.compute),
        "storage": parts.price(cost.storage),
        "total": parts.price(cost.total),
    }


def _planner_url(query: str) -> str:
    return parts.absolute(f"{reverse('catalog:planner')}?{query}")
