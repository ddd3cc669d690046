"""
Two to four GPUs side by side: what they are, what is asked for them, what they hold.

The best value of a line is marked where there is a better and a worse; if all are
equal, none is. Prices are compared in one currency and shown in their own.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from catalog.asks import Ask, Place
from catalog.costs import PLANNING_WINDOWS, cost_window
from catalog.gpu_list import GpuRow
from catalog.models import GpuModel, Method
from catalog.names import region_name
from catalog.value import GBS_PER_TBS

LEAST, MOST = 2, 4


@dataclass(frozen=True, kw_only=True)
class Choice:
    """
    What was asked to be compared: the GPUs that are, unknown names, and what is too
    much.
    """

    gpus: list[GpuModel]
    unknown: list[str]
    left_out: list[GpuModel]

    @property
    def is_enough(self) -> bool:
        return len(self.gpus) >= LEAST

    @property
    def places(self) -> list[str]:
        """
        What each of the lists to choose from has chosen, a slug or nothing.
        """
        slugs = [gpu.slug for gpu in self.gpus]
        return slugs + [""] * (MOST - len(slugs))


@dataclass(frozen=True, kw_only=True)
class Cell:
    """
    The value of one GPU in a line, None where it has none.
    """

    value: Any
    is_best: bool = False


@dataclass(frozen=True, kw_only=True)
class Line:
    """
    One property of all GPUs; `kind` says how its values are written.
    """

    label: str | Promise
    kind: str
    cells: list[Cell]


@dataclass(frozen=True, kw_only=True)
class Group:
    title: str | Promise
    lines: list[Line]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    columns: list[GpuRow]
    groups: list[Group]

    @property
    def has_currencies(self) -> bool:
        """
        Whether asks in more than one currency are held against each other.
        """
        asks = [ask for column in self.columns for ask in column.asks]
        return len({str(ask.rate.currency) for ask in asks}) > 1


def read_choice(slugs: Iterable[str], *, gpus: Iterable[GpuModel]) -> Choice:
    """
    Find the GPUs of these slugs, in this order and each once; empty ones ask nothing.
    """
    known = {gpu.slug: gpu for gpu in gpus}
    wanted = dict.fromkeys(slug for slug in slugs if slug)
    found = [known[slug] for slug in wanted if slug in known]
    return Choice(
        gpus=found[:MOST],
        unknown=[slug for slug in wanted if slug not in known],
        left_out=found[MOST:],
    )


def compare(gpus: Iterable[GpuModel], *, asks: dict[int, list[Ask]]) -> Comparison:
    """
    Return the GPUs side by side; `asks` are the live ones by GPU.
    """
    columns = [GpuRow(gpu=gpu, asks=asks.get(gpu.pk, [])) for gpu in gpus]
    groups = [
        Group(title=_("Price per GPU-hour"), lines=_prices(columns)),
        Group(title=_("Compute at the best ask"), lines=_windows(columns)),
        Group(title=_("Largest model, rule of thumb"), lines=_sizes(columns)),
        Group(title=_("Specification"), lines=_specification(columns)),
    ]
    return Comparison(columns=columns, groups=groups)


def _line(
    label: str | Promise,
    kind: str,
    values: Sequence[Any],
    *,
    keys: Sequence[Any] | None = None,
    best: Callable[..., Any] | None = None,
) -> Line:
    """
    Mark the values whose key is the best one; None is never the best.
    """
    keys = values if keys is None else keys
    known = [key for key in keys if key is not None]
    mark = best(known) if best and len(set(known)) > 1 else None
    cells = [
        Cell(value=value, is_best=mark is not None and key == mark)
        for value, key in zip(values, keys, strict=True)
    ]
    return Line(label=label, kind=kind, cells=cells)


def _prices(columns: list[GpuRow]) -> list[Line]:
    places = {ask.region for column in columns for ask in column.asks}
    regions = [
        _asks(region_name(place), [_ask_in(column, place) for column in columns])
        for place in sorted(places, key=region_name)
    ]
    memory = [column.gpu.memory_gb for column in columns]
    bandwidth = [Decimal(column.gpu.bandwidth_gbs) / GBS_PER_TBS for column in columns]
    return [
        *(regions or [_asks(_("Best ask"), [None for _column in columns])]),
        _by_ask(_("Per GB of memory"), columns, [c.per_gb for c in columns], memory),
        _by_ask(
            _("Per TB/s of bandwidth"), columns, [c.per_tbs for c in columns], bandwidth
        ),
    ]


def _asks(label: str | Promise, asks: Sequence[Ask | None]) -> Line:
    keys = [ask.comparable if ask else None for ask in asks]
    return _line(label, "ask", asks, keys=keys, best=min)


def _ask_in(column: GpuRow, place: Place) -> Ask | None:
    return next((ask for ask in column.asks if ask.region == place), None)


def _by_ask(
    label: str | Promise,
    columns: list[GpuRow],
    values: Sequence[Any],
    shares: Sequence[Decimal],
) -> Line:
    """
    Return what one of `shares` costs, compared in one currency.
    """
    keys = [
        column.best.comparable / share
        if column.best and column.best.comparable is not None
        else None
        for column, share in zip(columns, shares, strict=True)
    ]
    return _line(label, "rate", values, keys=keys, best=min)


def _windows(columns: list[GpuRow]) -> list[Line]:
    keys = [column.best.comparable if column.best else None for column in columns]
    return [
        _line(
            gettext("1 GPU × %(hours)s h") % {"hours": hours},
            "money",
            [
                cost_window(hours=hours, gpus=1, rate=column.best.rate).total
                if column.best
                else None
                for column in columns
            ],
            keys=keys,
            best=min,
        )
        for hours in PLANNING_WINDOWS
    ]


def _sizes(columns: list[GpuRow]) -> list[Line]:
    return [
        _line(
            method.label,
            "billions",
            [column.largest_b(method.value) for column in columns],
            best=max,
        )
        for method in Method
    ]


def _specification(columns: list[GpuRow]) -> list[Line]:
    gpus = [column.gpu for column in columns]
    return [
        _line(label, kind, [getattr(gpu, name) for gpu in gpus], best=best)
        for label, kind, name, best in SPECIFICATION
        if name != "process_gb" or any(gpu.process_memory_gb for gpu in gpus)
    ]


SPECIFICATION: tuple[tuple[str | Promise, str, str, Callable[..., Any] | None], ...] = (
    (_("Memory"), "gb", "memory_gb", max),
    (_("One process sees"), "gb", "process_gb", max),
    (_("Memory type"), "text", "memory_type", None),
    (_("Bandwidth"), "GB/s", "bandwidth_gbs", max),
    ("FP16", "TFLOPS", "fp16_tflops", max),
    ("BF16", "TFLOPS", "bf16_tflops", max),
    ("FP8", "TFLOPS", "fp8_tflops", max),
    ("FP32", "TFLOPS", "fp32_tflops", max),
    ("FP64", "TFLOPS", "fp64_tflops", max),
    (_("Power limit"), "W", "tdp_w", min),
    (_("Architecture"), "text", "architecture", None),
    (_("Form"), "text", "form_factor", None),
    (_("Link between GPUs"), "link", "nvlink", None),
    (_("Launched in"), "text", "launch_year", None),
)
