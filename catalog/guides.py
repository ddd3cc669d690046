"""
What a guide shows beside its text: live tables and costs, read from the catalog.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from djmoney.money import Money

from catalog import fit, inference
from catalog.asks import Ask
from catalog.best_asks import best_asks, own_asks
from catalog.costs import PLANNING_WINDOWS, Cost, cost_window
from catalog.models import (
    GpuModel,
    Method,
    Workload,
    WorkloadBlock,
    WorkloadText,
)

FALLBACK = "en"
# What the guide to training counts beside one GPU: a full node.
NODE_GPUS = 8


@dataclass(frozen=True, kw_only=True)
class FitRow:
    """
    A GPU with the largest base model that the rule of thumb gives it, in billions.

    `node_full_b` is that of eight such GPUs which share the states of a training.
    """

    gpu: GpuModel
    qlora_b: int
    lora_b: int
    full_b: int
    asks: list[Ask]

    @property
    def best(self) -> Ask | None:
        return self.asks[0] if self.asks else None

    @property
    def node_full_b(self) -> int:
        memory_gb = NODE_GPUS * self.gpu.process_gb
        return fit.largest_model_b(memory_gb=memory_gb, method=Method.FULL)

    @property
    def served_b(self) -> list[int]:
        """
        The largest models that it serves in 16, 8 and 4 bit.
        """
        memory_gb = float(self.gpu.process_gb)
        return [
            inference.largest_model_b(memory_gb=memory_gb, precision=precision)
            for precision in inference.Precision
        ]


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

    Where no supplier is named, the price is the best live ask, and `best` is empty.
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

    @property
    def best(self) -> Ask | None:
        return self.asks[0] if self.asks else None


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
    others: list[WorkloadText]

    @property
    def table_template(self) -> str:
        return f"catalog/tables/{self.workload.table.lower()}.html"

    @property
    def is_planned(self) -> bool:
        """
        Whether the planner answers for this work: it estimates trainings.
        """
        return self.workload.table in {Workload.Table.FIT, Workload.Table.TRAINING}

    @property
    def is_served(self) -> bool:
        return self.workload.table == Workload.Table.SERVING


def read_guide_list(*, language: str) -> list[WorkloadText]:
    """
    Return the text of each published guide, in English where the language has none.
    """
    texts = WorkloadText.objects.filter(
        workload__is_published=True,
        is_published=True,
        language__in=[language, FALLBACK],
    ).select_related("workload__example_gpu", "workload__example_supplier")
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
    texts = read_guide_list(language=language)
    found = [text for text in texts if text.workload.slug == slug]
    if not found:
        raise WorkloadText.DoesNotExist
    return _guide(found[0], at=at, others=[t for t in texts if t is not found[0]])


def preview_guide(text: WorkloadText, *, at: datetime) -> Guide:
    """
    Return a guide as readers would see it if this version of its text were published.
    """
    texts = read_guide_list(language=text.language)
    others = [other for other in texts if other.workload_id != text.workload_id]
    return _guide(text, at=at, others=others)


def _guide(text: WorkloadText, *, at: datetime, others: list[WorkloadText]) -> Guide:
    asks, reference = _asks(text.workload, at=at)
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
        others=others,
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


def _asks(
    workload: Workload, *, at: datetime
) -> tuple[dict[int, list[Ask]], dict[int, list[Ask]]]:
    """
    Return the best asks, and those of the supplier whose price the guide works with.
    """
    supplier_id = workload.example_supplier_id
    if supplier_id is None:
        return best_asks(at=at), {}
    return best_asks(at=at), own_asks(supplier_id=supplier_id, at=at)


def _example(
    workload: Workload, *, asks: dict[int, list[Ask]], reference: dict[int, list[Ask]]
) -> Example | None:
    gpu = workload.example_gpu
    if gpu is None:
        return None
    best = next(iter(asks.get(gpu.pk, [])), None)
    named = next(iter(reference.get(gpu.pk, [])), None)
    ask = named or best
    if ask is None:
        return None
    return Example(
        gpu=gpu,
        ask=ask,
        windows=cost_windows(ask.rate),
        best=best if named else None,
        best_windows=cost_windows(best.rate) if best and named else [],
    )
