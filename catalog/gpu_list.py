"""
The list of GPUs: what is filtered out, by which filter, and in which order the rest is.

The list is short, so it is read whole and filtered here: that is how the page can say
how many GPUs each filter rules out, and how many there would be without it.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, fields, replace
from decimal import Decimal
from enum import StrEnum
from typing import Any

from djmoney.money import Money

from catalog import fit
from catalog.asks import Ask
from catalog.models import GpuModel, Method
from catalog.value import GBS_PER_TBS, price_per_gb, price_per_tbs


class Sort(StrEnum):
    """
    What the list is sorted by.
    """

    PRICE = "price"
    PER_GB = "per-gb"
    PER_TBS = "per-tbs"
    MEMORY = "memory"
    BANDWIDTH = "bandwidth"
    NAME = "name"


@dataclass(frozen=True, kw_only=True)
class Filters:
    """
    What is asked of a GPU; None and empty ask nothing.

    Memory is in GB of one GPU, `price_to` per GPU-hour in the currency that asks are
    compared in, `size` in billions of parameters with the method it has to fit by.
    """

    memory_from: Decimal | None = None
    memory_to: Decimal | None = None
    architecture: str = ""
    vendor: str = ""
    region: str = ""
    price_to: Decimal | None = None
    size: tuple[str, Decimal] | None = None
    free: bool = False

    def active(self) -> list[str]:
        """
        Return the names of the filters that ask something.
        """
        return [each.name for each in fields(self) if getattr(self, each.name)]

    def without(self, name: str) -> "Filters":
        return replace(self, **{name: getattr(NO_FILTERS, name)})

    def only(self, name: str) -> "Filters":
        return replace(NO_FILTERS, **{name: getattr(self, name)})


NO_FILTERS = Filters()


@dataclass(frozen=True, kw_only=True)
class GpuRow:
    """
    A GPU on the list, with its live asks where they are looked for, the best first.
    """

    gpu: GpuModel
    asks: Sequence[Ask]

    @property
    def best(self) -> Ask | None:
        return self.asks[0] if self.asks else None

    @property
    def per_gb(self) -> Money | None:
        return price_per_gb(self.best.rate, self.gpu) if self.best else None

    @property
    def per_tbs(self) -> Money | None:
        return price_per_tbs(self.best.rate, self.gpu) if self.best else None

    def largest_b(self, method: str) -> int:
        return fit.largest_model_b(memory_gb=self.gpu.process_gb, method=method)

    @property
    def sizes_b(self) -> list[int]:
        """
        The largest base models of adapters by the rule of thumb: QLoRA, LoRA.
        """
        return [self.largest_b(method) for method in (Method.QLORA, Method.LORA)]


@dataclass(frozen=True, kw_only=True)
class Removal:
    """
    What a filter does: how many GPUs it rules out by itself, and how many there would
    be on the list without it.
    """

    name: str
    alone: int
    without: int


@dataclass(frozen=True, kw_only=True)
class GpuList:
    """
    The GPUs that pass all filters, in order, and what each filter did.
    """

    rows: list[GpuRow]
    total: int
    removals: list[Removal]

    @property
    def is_one_to_blame(self) -> bool:
        """
        Whether dropping a single filter would show something.
        """
        return any(removal.without for removal in self.removals)


def list_gpus(
    gpus: Iterable[GpuModel],
    *,
    asks: dict[int, list[Ask]],
    filters: Filters,
    sort: Sort = Sort.PRICE,
) -> GpuList:
    """
    Return the GPUs that pass the filters; `asks` are the live ones by GPU.
    """
    rows = [GpuRow(gpu=gpu, asks=asks.get(gpu.pk, [])) for gpu in gpus]
    removals = [
        Removal(
            name=name,
            alone=len(rows) - len(_passing(rows, filters.only(name))),
            without=len(_passing(rows, filters.without(name))),
        )
        for name in filters.active()
    ]
    found = sorted(_passing(rows, filters), key=ORDERS[sort])
    return GpuList(rows=found, total=len(rows), removals=removals)


def _passing(rows: Iterable[GpuRow], filters: Filters) -> list[GpuRow]:
    rules = [RULES[name] for name in filters.active()]
    placed = (_in_region(row, filters.region) for row in rows)
    return [row for row in placed if all(rule(row, filters) for rule in rules)]


def _in_region(row: GpuRow, region: str) -> GpuRow:
    if not region:
        return row
    return replace(row, asks=[ask for ask in row.asks if ask.region.slug == region])


def _is_affordable(row: GpuRow, filters: Filters) -> bool:
    # What no exchange rate is known for cannot be said to cost less.
    if row.best is None or row.best.comparable is None or filters.price_to is None:
        return False
    return row.best.comparable <= filters.price_to


def _is_large_enough(row: GpuRow, filters: Filters) -> bool:
    assert filters.size is not None
    method, size_b = filters.size
    return row.largest_b(method) >= size_b


RULES: dict[str, Callable[[GpuRow, Filters], bool]] = {
    "memory_from": lambda row, asked: row.gpu.memory_gb >= (asked.memory_from or 0),
    "memory_to": lambda row, asked: row.gpu.memory_gb <= (asked.memory_to or 0),
    "architecture": lambda row, asked: row.gpu.architecture == asked.architecture,
    "vendor": lambda row, asked: row.gpu.vendor == asked.vendor,
    "region": lambda row, _asked: bool(row.asks),
    "price_to": _is_affordable,
    "size": _is_large_enough,
    "free": lambda row, _asked: bool(row.asks),
}


def _by_price(row: GpuRow, share: Decimal | int = 1) -> tuple[Any, ...]:
    """
    Return the place of a row by what one of `share` units costs; unknown comes last.
    """
    rest = (row.gpu.memory_gb, row.gpu.label)
    if row.best is None:
        return True, True, Decimal(0), *rest
    is_unknown, amount = row.best.price_order[:2]
    return False, is_unknown, amount / share, *rest


ORDERS: dict[Sort, Callable[[GpuRow], tuple[Any, ...]]] = {
    Sort.PRICE: _by_price,
    Sort.PER_GB: lambda row: _by_price(row, row.gpu.memory_gb),
    Sort.PER_TBS: lambda row: _by_price(
        row, Decimal(row.gpu.bandwidth_gbs) / GBS_PER_TBS
    ),
    Sort.MEMORY: lambda row: (-row.gpu.memory_gb, *_by_price(row)),
    Sort.BANDWIDTH: lambda row: (-row.gpu.bandwidth_gbs, *_by_price(row)),
    Sort.NAME: lambda row: (row.gpu.label.casefold(),),
}
