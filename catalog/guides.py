"""
What a guide shows beside its text: live tables and costs, read from the catalog.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from djmoney.money import Money

from catalog import fit
from catalog.asks import Ask, asks_of, best_asks
from catalog.costs import PLANNING_WINDOWS, Cost, cost_window
from catalog.models import (
    GpuModel,
    Method,
    Offer,
    Workload,
    WorkloadBlock,
    WorkloadText,
)

FALLBACK = "en"


@dataclass(frozen=True, kw_only=True)
class FitRow:
    """
    A GPU with the largest base model that the rule of thumb gives it, in billions.
    """

    gpu: GpuModel
    qlora_b: int
    lora_b: int
    full_b: int
    asks: list[Ask]

    @property
    def best(self) -> Ask | None:
        return self.asks[0] if self.asks else None


@dataclass(frozen=True, kw_only=True)
class Window:
    """
    What a number of hours costs.
    """

    hours: int
    cost: Cost


@dataclass(frozen=True, kw_only=True)
class Example:
    """
    The guide's worked example: one supplier's price, and the best live ask beside it.
    """

    gpu: GpuModel
    ask: Ask
    windows: list[Window]
    best: Ask | None
    best_windows: list[Window]


@dataclass(frozen=True, kw_only=True)
class ShortlistItem:
    """
    A GPU of the shortlist and where it can be had.

    `stale` are the example supplier's asks that nobody has confirmed for too long.
    """

    gpu: GpuModel
    use: str
    asks: list[Ask]
    stale: list[Ask]


@dataclass(frozen=True, kw_only=True)
class Guide:
    """
    A guide as a page shows it; `blocks` are by the lower-case name of their kind.
    """

    workload: Workload
    text: WorkloadText
    blocks: dict[str, list[WorkloadBlock]]
    rows: list[FitRow]
    example: Example | None
    shortlist: list[ShortlistItem]


def read_guide_list(*, language: str) -> list[WorkloadText]:
    """
    Return the text of each published guide, in English where the language has none.
    """
    texts = WorkloadText.objects.filter(
        workload__is_published=True, language__in=[language, FALLBACK]
    ).select_related("workload")
    # The reader's language is put in last and stays.
    by_guide = {
        text.workload_id: text
        for text in sorted(texts, key=lambda text: text.language == language)
    }
    return sorted(by_guide.values(), key=lambda text: text.workload.position)


def read_guide(*, slug: str, language: str, at: datetime) -> Guide:
    """
    Return a published guide in the language, or in English where it has no such text.

    :raises WorkloadText.DoesNotExist: if there is no such guide
    """
    texts = WorkloadText.objects.filter(
        workload__slug=slug,
        workload__is_published=True,
        language__in=[language, FALLBACK],
    ).select_related("workload__example_gpu", "workload__example_supplier")
    found = sorted(texts, key=lambda text: text.language == FALLBACK)
    if not found:
        raise WorkloadText.DoesNotExist
    text = found[0]
    asks = best_asks(at=at)
    reference = _reference(text.workload, at=at)
    blocks = _blocks(text)
    return Guide(
        workload=text.workload,
        text=text,
        blocks=blocks,
        rows=fit_rows(_table(text.workload), asks=asks),
        example=_example(text.workload, asks=asks, reference=reference),
        shortlist=[
            ShortlistItem(
                gpu=block.gpu,
                use=block.body,
                asks=asks.get(block.gpu.pk, []),
                stale=[ask for ask in reference.get(block.gpu.pk, []) if ask.is_stale],
            )
            for block in blocks["shortlist"]
            if block.gpu
        ],
    )


def fit_rows(gpus: Iterable[GpuModel], *, asks: dict[int, list[Ask]]) -> list[FitRow]:
    """
    Return the row of each GPU for a table of what fits and what it costs.
    """
    return [
        FitRow(
            gpu=gpu,
            qlora_b=fit.largest_model_b(memory_gb=gpu.process_gb, method=Method.QLORA),
            lora_b=fit.largest_model_b(memory_gb=gpu.process_gb, method=Method.LORA),
            full_b=fit.largest_model_b(memory_gb=gpu.process_gb, method=Method.FULL),
            asks=asks.get(gpu.pk, []),
        )
        for gpu in gpus
    ]


def cost_windows(rate: Money) -> list[Window]:
    """
    Return what one GPU costs for 8, 40 and 120 hours, compute only.
    """
    return [
        Window(hours=hours, cost=cost_window(hours=hours, gpus=1, rate=rate))
        for hours in PLANNING_WINDOWS
    ]


def _blocks(text: WorkloadText) -> dict[str, list[WorkloadBlock]]:
    blocks: dict[str, list[WorkloadBlock]] = defaultdict(list)
    for block in text.blocks.select_related("gpu").order_by("position"):
        blocks[block.kind.lower()].append(block)
    return blocks


def _table(workload: Workload) -> list[GpuModel]:
    rows = workload.rows.select_related("gpu").order_by("position")
    return [row.gpu for row in rows]


def _reference(workload: Workload, *, at: datetime) -> dict[int, list[Ask]]:
    if workload.example_supplier is None:
        return {}
    offers = Offer.objects.of_size(1).filter(supplier=workload.example_supplier)
    found: dict[int, list[Ask]] = {}
    for ask in asks_of(offers.listed(at), at=at):
        found.setdefault(ask.gpu_id, []).append(ask)
    return found


def _example(
    workload: Workload, *, asks: dict[int, list[Ask]], reference: dict[int, list[Ask]]
) -> Example | None:
    gpu = workload.example_gpu
    if gpu is None or not reference.get(gpu.pk):
        return None
    ask = reference[gpu.pk][0]
    best = next(iter(asks.get(gpu.pk, [])), None)
    return Example(
        gpu=gpu,
        ask=ask,
        windows=cost_windows(ask.rate),
        best=best,
        best_windows=cost_windows(best.rate) if best else [],
    )
