"""
The calculator of the guide to inference: what is asked of it, held against each GPU.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from djmoney.money import Money

from catalog import inference
from catalog.asks import Ask
from catalog.fit import Fit, usable_gb
from catalog.guides import FitRow
from catalog.inference import Precision, Serving
from catalog.models import BaseModel, GpuModel
from money import round_half_up

# Their cache is compressed in a way that the formula does not know.
COMPRESSED_FAMILIES = ("DeepSeek-V2", "DeepSeek-V3")
GIB = 2**30
# A million tokens can cost less than a cent.
PER_MILLION_PLACES = 3


@dataclass(frozen=True, kw_only=True)
class WantedServing:
    """
    Which model is to answer how many requests at once, with how much context each.
    """

    model: BaseModel
    precision: Precision
    cache_bits: int
    context: int
    requests: int


@dataclass(frozen=True, kw_only=True)
class ServingRow:
    """
    One GPU; speeds are what its bandwidth allows, costs those of its best ask.
    """

    gpu: GpuModel
    verdict: Fit
    most_requests: int
    per_request: float
    in_total: float
    per_million: Money | None
    best: Ask | None

    @property
    def can_run(self) -> bool:
        return self.verdict is not Fit.NO


@dataclass(frozen=True, kw_only=True)
class ServingPlan:
    """
    The calculator's answer; memory is in the cards' own GB (2^30 bytes).
    """

    wanted: WantedServing
    cache_bytes_per_token: int
    weights_gb: Decimal
    cache_gb: Decimal
    needed_gb: Decimal
    rows: list[ServingRow]


def plan_serving(wanted: WantedServing, *, rows: Iterable[FitRow]) -> ServingPlan:
    """
    Hold what is wanted against the GPUs of the guide's table.
    """
    architecture = wanted.model.architecture()
    serving = inference.serve(
        architecture,
        precision=wanted.precision,
        context=wanted.context,
        requests=wanted.requests,
        cache_bits=wanted.cache_bits,
    )
    return ServingPlan(
        wanted=wanted,
        cache_bytes_per_token=inference.cache_bytes_per_token(
            architecture, cache_bits=wanted.cache_bits
        ),
        weights_gb=_gb(serving.weight_bytes),
        cache_gb=_gb(serving.cache_bytes),
        needed_gb=_gb(serving.needed_bytes),
        rows=[_row(row, serving) for row in rows],
    )


def _row(row: FitRow, serving: Serving) -> ServingRow:
    gpu = row.gpu
    usable = 10**9 * usable_gb(
        memory_gb=float(gpu.process_gb), has_inline_ecc=gpu.has_inline_ecc
    )
    speed = inference.tokens_per_second(serving, bandwidth_gbs=gpu.bandwidth_gbs)
    return ServingRow(
        gpu=gpu,
        verdict=inference.verdict(serving, usable_bytes=usable),
        most_requests=inference.most_requests(serving, usable_bytes=usable),
        per_request=speed / serving.requests,
        in_total=speed,
        per_million=_per_million(row.best, speed),
        best=row.best,
    )


def _per_million(best: Ask | None, tokens_per_second: float) -> Money | None:
    if best is None:
        return None
    hours = 10**6 / Decimal(str(tokens_per_second)) / 3600
    amount = round_half_up(best.rate.amount * hours, PER_MILLION_PLACES)
    return Money(amount, best.rate.currency)


def _gb(amount: float) -> Decimal:
    return Decimal(str(amount)) / GIB
