"""
Which GPUs a fine-tune fits, where they can be had, and what that costs.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any
from urllib.parse import urlencode

from djmoney.money import Money

from catalog import exchange, fit
from catalog.asks import Ask
from catalog.best_asks import best_asks
from catalog.changes import Advice, Changes, Option, card_gb, judge
from catalog.costs import PLANNING_WINDOWS, Cost, cost_window, storage_cost
from catalog.frameworks import Framework
from catalog.models import GpuModel, Method, StoragePlan

CHEAPEST_SHOWN = 3
# What the planner calls otherwise than the form of a request.
REQUEST_NAMES = {"rank": "lora_rank", "checkpointing": "is_checkpointing"}
# What a request says anyway, and a loss as it calls it.
UNSAID = {"loss": "plain", "optimizer": "adamw"}
KNOWN_LOSS = {fit.LossKernel.CHUNKED_16BIT: fit.LossKernel.CHUNKED}
REQUESTED = (
    "model",
    "method",
    "sequence_length",
    "micro_batch",
    "hours",
    "storage_gb",
    "gpus",
    "rank",
    "checkpointing",
)


class Evidence(StrEnum):
    """
    How well an estimate is held against measurements.
    """

    MEASURED = "measured"
    MODELLED = "modelled"
    PROVISIONAL = "provisional"


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """
    A fine-tune that somebody plans; `longest` is what the model reads, in tokens.

    `state` is the planner's address: what a link says to plan the same again.
    """

    name: str
    is_own: bool
    longest: int | None
    training: fit.Training
    framework: Framework
    hours: int
    storage_gb: int
    state: Mapping[str, str]

    @property
    def is_too_long(self) -> bool:
        return self.longest is not None and self.training.sequence_length > self.longest

    @property
    def shortened(self) -> str:
        """
        The address with the longest sequence that the model reads.
        """
        return urlencode({**self.state, "sequence_length": self.longest})

    @property
    def evidence(self) -> Evidence:
        if self.training.gpus > 1:
            return Evidence.PROVISIONAL
        is_dense = not self.training.architecture.num_experts
        if is_dense and self.framework.is_measured and not self.is_own:
            return Evidence.MEASURED
        return Evidence.MODELLED


@dataclass(frozen=True, kw_only=True)
class Row:
    """
    One GPU in the plan; its costs are those of its best ask, storage included.

    `room_gb` is its memory without what ECC takes and `missing_gb` what it is short
    of, in the cards' own GB; `cheapness` is its cost in the currency that asks are
    compared in, the unknown ones last; `options` are the single changes that would make it fit.
    """

    gpu: GpuModel
    verdict: fit.Fit
    room_gb: Decimal
    missing_gb: Decimal
    needs_quantized_experts: bool
    options: list[Option]
    asks: list[Ask]
    windows: dict[int, Cost]
    cost: Cost | None
    cheapness: tuple[bool, Decimal] | None
    request: str

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
    `cheapest` are the first rows that fit or, if none does, that are tight.
    """

    wanted: Wanted
    at: datetime
    needed_gb: Decimal
    wide_gb: Decimal
    unquantized_gb: Decimal | None
    parts: list[dict[str, Any]]
    advice: Advice | None
    storage_plan: StoragePlan | None
    rows: list[Row]
    cheapest: list[Row]

    @property
    def fits(self) -> int:
        return sum(row.verdict is fit.Fit.FITS for row in self.rows)

    @property
    def tight(self) -> int:
        return sum(row.verdict is fit.Fit.TIGHT for row in self.rows)

    @property
    def method_name(self) -> str:
        return str(Method(self.wanted.training.method.value).label)

    @property
    def has_own_hours(self) -> bool:
        return self.wanted.hours not in PLANNING_WINDOWS

    @property
    def has_currencies(self) -> bool:
        """
        Whether asks in more than one currency stand among each other.
        """
        return len({row.best.rate.currency.code for row in self.rows if row.best}) > 1

    @property
    def gpus(self) -> int:
        return self.wanted.training.gpus

    @property
    def storage_cost(self) -> Money | None:
        if self.storage_plan is None:
            return None
        return storage_cost(
            gb=self.wanted.storage_gb,
            monthly_rate=self.storage_plan.monthly_price,
            hours=self.wanted.hours,
        )


def make_plan(wanted: Wanted, *, at: datetime) -> Plan:
    """
    Hold what is wanted against every GPU of the catalog and every live ask.
    """
    training = wanted.training
    plans = StoragePlan.objects.filter(is_listed=True, is_persistent=True)
    storage_plan = plans.order_by("position", "pk").first()
    planner = _Planner(
        wanted=wanted,
        estimate=fit.estimate(training),
        unquantized=_with_unquantized_experts(training),
        storage_plan=storage_plan,
        comparable_storage=_comparable_storage(wanted, storage_plan, at=at),
    )
    changes = Changes(training, planner.estimate, wanted.state)
    asks = best_asks(at=at, gpus=training.gpus)
    gpus = list(GpuModel.objects.all())
    rows = sorted(
        (planner.row(gpu, asks.get(gpu.pk, []), changes) for gpu in gpus),
        key=_reading_order,
    )
    return planner.plan(rows, advice=changes.advice(gpus), at=at)


@dataclass(frozen=True, kw_only=True)
class _Planner:
    """
    What is the same for every GPU of a plan.

    `comparable_storage` is what the storage costs in the currency that asks are
    compared in; 0 without a known rate, as it is missing in every row then.
    """

    wanted: Wanted
    estimate: fit.MemoryEstimate
    unquantized: fit.MemoryEstimate | None
    storage_plan: StoragePlan | None
    comparable_storage: Decimal

    def plan(self, rows: list[Row], *, advice: Advice | None, at: datetime) -> Plan:
        return Plan(
            wanted=self.wanted,
            at=at,
            needed_gb=card_gb(self.estimate.needed_gb),
            wide_gb=card_gb(self.estimate.wide_gb),
            unquantized_gb=card_gb(self.unquantized.needed_gb)
            if self.unquantized
            else None,
            parts=_parts(self.estimate),
            advice=advice,
            storage_plan=self.storage_plan,
            rows=rows,
            cheapest=_cheapest(rows),
        )

    def row(self, gpu: GpuModel, asks: list[Ask], changes: Changes) -> Row:
        verdict = fit.verdict(
            estimate=self.estimate,
            memory_gb=float(gpu.process_gb),
            has_inline_ecc=gpu.has_inline_ecc,
        )
        windows = {
            hours: self._cost(asks[0].rate, hours=hours)
            for hours in PLANNING_WINDOWS
            if asks
        }
        cost = self._own_cost(asks, windows)
        is_fitting = verdict.fit is fit.Fit.FITS
        return Row(
            gpu=gpu,
            verdict=verdict.fit,
            room_gb=_room_gb(gpu),
            missing_gb=card_gb(max(-verdict.spare_gb, 0)),
            needs_quantized_experts=self._needs_quantized_experts(gpu),
            options=[] if is_fitting else changes.for_card(gpu),
            asks=asks,
            windows=windows,
            cost=cost,
            cheapness=self._cheapness(cost, asks[0]) if cost else None,
            request=self._request(gpu, asks) if verdict.fit is not fit.Fit.NO else "",
        )

    def _needs_quantized_experts(self, gpu: GpuModel) -> bool:
        if self.unquantized is None or judge(self.estimate, gpu) is fit.Fit.NO:
            return False
        return judge(self.unquantized, gpu) is fit.Fit.NO

    def _own_cost(self, asks: list[Ask], windows: dict[int, Cost]) -> Cost | None:
        hours = self.wanted.hours
        if not asks:
            return None
        return windows.get(hours) or self._cost(asks[0].rate, hours=hours)

    def _cost(self, rate: Money, *, hours: int) -> Cost:
        gpus, plan = self.wanted.training.gpus, self.storage_plan
        # Storage is only added in its own currency: nothing is converted unseen.
        if plan is None or plan.monthly_price.currency != rate.currency:
            return cost_window(hours=hours, gpus=gpus, rate=rate)
        return cost_window(
            hours=hours,
            gpus=gpus,
            rate=rate,
            storage_gb=self.wanted.storage_gb,
            storage_rate=plan.monthly_price,
        )

    def _kernels(self) -> dict[str, str]:
        """
        Return the loss and the optimizer of the plan, where a request has to know.
        """
        training = self.wanted.training
        loss = KNOWN_LOSS.get(training.loss_kernel, training.loss_kernel)
        query = {"loss": loss.value, "optimizer": training.optimizer.value}
        return {name: text for name, text in query.items() if text != UNSAID[name]}

    def _cheapness(self, cost: Cost, ask: Ask) -> tuple[bool, Decimal]:
        total: Decimal = cost.total.amount
        if ask.comparable is None:
            return True, total
        total = total * ask.comparable / ask.rate.amount
        plan = self.storage_plan
        if plan is None or plan.monthly_price.currency == ask.rate.currency:
            return False, total
        # What is not added to the cost for its currency still makes it dearer.
        return False, total + self.comparable_storage

    def _request(self, gpu: GpuModel, asks: list[Ask]) -> str:
        """
        Return the query that fills in a request, empty if it could not be taken.
        """
        if not asks or self.wanted.is_too_long:
            return ""
        place = urlencode({"gpu": gpu.slug, "region": asks[0].region.slug})
        return f"{self._request_anywhere}&{place}"

    @cached_property
    def _request_anywhere(self) -> str:
        state = self.wanted.state
        left_out = {"model"} if self.wanted.is_own else set()
        query = {
            REQUEST_NAMES.get(name, name): state[name]
            for name in REQUESTED
            if name in state and name not in left_out
        }
        if query.get("is_checkpointing") == "off":
            query["is_checkpointing"] = ""
        return urlencode({**query, **self._kernels()})


def _comparable_storage(
    wanted: Wanted, plan: StoragePlan | None, *, at: datetime
) -> Decimal:
    if plan is None:
        return Decimal(0)
    cost = storage_cost(
        gb=wanted.storage_gb, monthly_rate=plan.monthly_price, hours=wanted.hours
    )
    currency = cost.currency.code
    if currency == exchange.REFERENCE:
        return cost.amount
    return cost.amount * exchange.rates(at=at).get(currency, Decimal(0))


def _with_unquantized_experts(training: fit.Training) -> fit.MemoryEstimate | None:
    """
    Estimate a QLoRA run of a loader that leaves the experts in 16 bit.
    """
    is_quantized = training.method is fit.Method.QLORA
    if not (is_quantized and training.architecture.num_experts):
        return None
    stack = replace(training.stack, quantizes_experts=False)
    return fit.estimate(replace(training, stack=stack))


def _reading_order(row: Row) -> tuple[Any, ...]:
    if not row.can_run:
        return (2, -row.gpu.memory_gb, row.gpu.label)
    if row.cheapness is None:
        return (1, row.gpu.memory_gb, row.gpu.label)
    return (0, *row.cheapness, row.gpu.memory_gb, row.gpu.label)


def _cheapest(rows: list[Row]) -> list[Row]:
    offered = [row for row in rows if row.cost is not None]
    fitting = [row for row in offered if row.verdict is fit.Fit.FITS]
    tight = [row for row in offered if row.verdict is fit.Fit.TIGHT]
    return (fitting or tight)[:CHEAPEST_SHOWN]


def _room_gb(gpu: GpuModel) -> Decimal:
    share = fit.INLINE_ECC_SHARE if gpu.has_inline_ecc else 0
    return gpu.process_gb * (1 - Decimal(share))


def _parts(estimate: fit.MemoryEstimate) -> list[dict[str, Any]]:
    """
    Return what is needed by part, as the bar and the legend want it.

    The cache is left out: the needed figure does without it, the whisker shows it.
    """
    return [
        {
            "part": part.part.value,
            "label": part.name,
            "value": card_gb(part.gb),
            "kind": f"part-{number}",
        }
        for number, part in enumerate(estimate.parts, start=1)
        if part.part != fit.Part.CACHE and part.gb > 0
    ]
