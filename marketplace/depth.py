"""
What pages show of all GPUs in the market: best asks, demand in numbers, last matches.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from catalog.asks import Ask
from catalog.best_asks import best_asks
from catalog.models import GpuModel
from marketplace.models import Match
from workspaces.models import Workspace

MATCHES_SHOWN = 10


class Trade(NamedTuple):
    price: Money
    at: datetime


@dataclass
class GpuRow:
    """
    One GPU in the market; the best ask is None while nobody offers it.
    """

    gpu: GpuModel
    best: Ask | None = None
    nodes: int = 0
    waiting: int = 0
    last: Trade | None = None


class MemoryClass(NamedTuple):
    """
    GPUs with about the same memory.
    """

    label: Promise
    rows: list[GpuRow]


MEMORY_CLASSES = [
    (_("Up to 24 GB"), 24),
    (_("32 to 48 GB"), 48),
    (_("64 to 96 GB"), 96),
    (_("More than 96 GB"), None),
]


def prices_by_memory(*, at: datetime) -> list[MemoryClass]:
    """
    Return the GPUs that can be rented alone now with their best ask, by memory.

    In each class the cheapest comes first; classes without an offer are left out.
    """
    asks = best_asks(at=at)
    gpus = GpuModel.objects.in_bulk(asks)
    rows = [GpuRow(gpus[gpu_id], best=regional[0]) for gpu_id, regional in asks.items()]
    classes = []
    for label, most_gb in MEMORY_CLASSES:
        inside = [
            row for row in rows if most_gb is None or row.gpu.memory_gb <= most_gb
        ]
        rows = [row for row in rows if row not in inside]
        if inside:
            classes.append(MemoryClass(label, inside))
    return classes


def overview(*, at: datetime) -> list[GpuRow]:
    """
    Return every GPU that is offered, asked for or was matched, cheapest first.
    """
    rows = {gpu.pk: GpuRow(gpu) for gpu in GpuModel.objects.all()}
    for gpu_id, asks in best_asks(at=at, gpus=None).items():
        rows[gpu_id].best = asks[0]
        rows[gpu_id].nodes = sum(ask.free_nodes for ask in asks)
    for gpu_id, waiting in _demand():
        rows[gpu_id].waiting = waiting
    for match in _last_matches():
        rows[match.offer.gpu_id].last = Trade(match.hourly_price, match.matched_at)
    alive = [row for row in rows.values() if row.best or row.waiting or row.last]
    return sorted(alive, key=_cheapest_first)


def last_matches(*, gpu_id: int) -> list[Match]:
    """
    Return the latest matches of a GPU, newest first.
    """
    matches = Match.objects.filter(offer__gpu_id=gpu_id)
    newest = matches.select_related("offer__region").order_by("-sequence")
    return list(newest[:MATCHES_SHOWN])


def _demand() -> list[tuple[int, int]]:
    waiting = Workspace.objects.waiting().values("gpu_id")
    rows = waiting.annotate(waiting=Count("pk")).values_list("gpu_id", "waiting")
    return list(rows.order_by())


def _last_matches() -> list[Match]:
    newest = Match.objects.select_related("offer").order_by("offer__gpu", "-sequence")
    return list(newest.distinct("offer__gpu"))


def _cheapest_first(row: GpuRow) -> tuple[Any, ...]:
    if row.best is None:
        return (True, row.gpu.label)
    return (False, row.best.price_order, row.gpu.label)
