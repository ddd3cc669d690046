"""
Which GPUs a fine-tune fits, where they can be had, and what that costs.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from djmoney.money import Money

from catalog import fit
from catalog.asks import Ask, best_asks
from catalog.costs import PLANNING_WINDOWS, Cost, cost_window, storage_cost
from catalog.models import BaseModel, GpuModel, Method, StoragePlan


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """
    A fine-tune that somebody plans.
    """

    model: BaseModel
    method: str
    sequence_length: int
    micro_batch: int
    hours: int
    storage_gb: int


@dataclass(frozen=True, kw_only=True)
class Row:
    """
    One GPU in the plan; its costs are those of its best ask, storage included.

    `missing_gb` is what the GPU is short of, in the cards' own GB; `levers` are the
    single changes that would make the fine-tune fit.
    """

    gpu: GpuModel
    verdict: fit.Fit
    missing_gb: Decimal
    levers: list[fit.Lever]
    asks: list[Ask]
    windows: list[Cost]
    cost: Cost | None

    @property
    def best(self) -> Ask | None:
        return self.asks[0] if self.asks else None

    @property
    def can_run(self) -> bool:
        return self.verdict is not fit.Fit.NO


@dataclass(frozen=True, kw_only=True)
class Plan:
    """
    The answer to a planned fine-tune; memory is in the cards' own GB (2^30 bytes).

    Rows come as they should be read: what can run and be rented, cheapest first, then
    what can run but is offered by nobody now, then what is too small, largest first.
    """

    wanted: Wanted
    at: datetime
    needed_gb: Decimal
    wide_gb: Decimal
    parts: list[dict[str, Any]]
    storage_plan: StoragePlan | None
    rows: list[Row]

    @property
    def fits(self) -> int:
        return sum(row.verdict is fit.Fit.FITS for row in self.rows)

    @property
    def tight(self) -> int:
        return sum(row.verdict is fit.Fit.TIGHT for row in self.rows)

    @property
    def method_name(self) -> str:
        return str(Method(self.wanted.method).label)

    @property
    def has_own_hours(self) -> bool:
        return self.wanted.hours not in PLANNING_WINDOWS

    @property
    def storage_cost(self) -> Money | None:
        if self.storage_plan is None:
            return None
        return storage_cost(
            gb=self.wanted.storage_gb,
            monthly_rate=self.storage_plan.monthly_price,
            hours=self.wanted.hours,
        )

    @property
    def cheapest(self) -> Row | None:
        first = self.rows[0] if self.rows else None
        return first if first and first.can_run and first.best else None


def make_plan(wanted: Wanted, *, at: datetime) -> Plan:
    """
    Hold what is wanted against every GPU of the catalog and every live ask.
    """
    estimate = fit.estimate_memory(
        architecture=wanted.model.architecture(),
        method=wanted.method,
        sequence_length=wanted.sequence_length,
        micro_batch=wanted.micro_batch,
    )
    plans = StoragePlan.objects.filter(is_listed=True, is_persistent=True)
    storage_plan = plans.order_by("position", "pk").first()
    asks = best_asks(at=at)
    rows = [
        _row(gpu, asks.get(gpu.pk, []), wanted, estimate, storage_plan)
        for gpu in GpuModel.objects.all()
    ]
    return Plan(
        wanted=wanted,
        at=at,
        needed_gb=_card_gb(estimate.needed_gb),
        wide_gb=_card_gb(estimate.wide_gb),
        parts=_parts(estimate),
        storage_plan=storage_plan,
        rows=sorted(rows, key=_reading_order),
    )


def _row(
    gpu: GpuModel,
    asks: list[Ask],
    wanted: Wanted,
    estimate: fit.MemoryEstimate,
    storage_plan: StoragePlan | None,
) -> Row:
    memory_gb = float(gpu.memory_gb)
    verdict = fit.verdict(estimate=estimate, memory_gb=memory_gb)
    is_too_small = verdict.fit is fit.Fit.NO
    costs = [
        _cost(asks[0].rate, hours=hours, wanted=wanted, plan=storage_plan)
        for hours in (*PLANNING_WINDOWS, wanted.hours)
        if asks
    ]
    return Row(
        gpu=gpu,
        verdict=verdict.fit,
        missing_gb=_card_gb(max(-verdict.spare_gb, 0)),
        levers=fit.levers(estimate=estimate, memory_gb=memory_gb)
        if is_too_small
        else [],
        asks=asks,
        windows=costs[:-1],
        cost=costs[-1] if costs else None,
    )


def _cost(rate: Money, *, hours: int, wanted: Wanted, plan: StoragePlan | None) -> Cost:
    # Storage is only added in its own currency: nothing is converted unseen.
    if plan is None or plan.monthly_price.currency != rate.currency:
        return cost_window(hours=hours, gpus=1, rate=rate)
    return cost_window(
        hours=hours,
        gpus=1,
        rate=rate,
        storage_gb=wanted.storage_gb,
        storage_rate=plan.monthly_price,
    )


def _reading_order(row: Row) -> tuple[Any, ...]:
    if not row.can_run:
        return (2, -row.gpu.memory_gb, row.gpu.label)
    if row.cost is None:
        return (1, row.gpu.memory_gb, row.gpu.label)
    return (0, row.cost.total.amount, row.gpu.memory_gb, row.gpu.label)


def _parts(estimate: fit.MemoryEstimate) -> list[dict[str, Any]]:
    """
    Return what is needed by part, as the bar and the legend want it.

    The cache is left out: the needed figure does without it, the whisker shows it.
    """
    return [
        {"label": part.name, "value": _card_gb(part.gb), "kind": f"part-{number}"}
        for number, part in enumerate(estimate.parts, start=1)
        if part.part != fit.Part.CACHE and part.gb > 0
    ]


def _card_gb(gb: float) -> Decimal:
    return Decimal(repr(fit.gib(gb)))
