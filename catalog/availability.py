"""
What can be reserved now, GPU by GPU and region by region.

A node counts if it is free, on the list and at a price that is still true: exactly
then a request can be matched to it. Few are shown as few, never hidden.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import Max, Sum
from django.db.models.functions import Greatest

from catalog.asks import FEW_NODES, Ask
from catalog.best_asks import best_asks
from catalog.models import GpuModel, Offer, Region, StockAlert


@dataclass(frozen=True, kw_only=True)
class Cell:
    """
    The nodes of a GPU in a region.

    `unconfirmed` nodes are free too, but nobody confirmed their price lately. `best`
    is the cheapest ask of any size of node, `alert` the reader's own.
    """

    gpu: GpuModel
    region: Region
    free_nodes: int
    unconfirmed: int
    changed_at: datetime | None
    best: Ask | None
    alert: UUID | None

    @property
    def is_free(self) -> bool:
        return self.free_nodes > 0

    @property
    def is_few(self) -> bool:
        return 0 < self.free_nodes <= FEW_NODES


@dataclass(frozen=True, kw_only=True)
class Row:
    """
    A GPU in all regions.
    """

    gpu: GpuModel
    cells: list[Cell]

    @property
    def is_free(self) -> bool:
        return any(cell.is_free for cell in self.cells)

    @property
    def changed_at(self) -> datetime | None:
        return max((c.changed_at for c in self.cells if c.changed_at), default=None)


@dataclass(frozen=True, kw_only=True)
class Matrix:
    """
    All GPUs in all regions; what can be had somewhere comes first.
    """

    regions: list[Region]
    rows: list[Row]


def read_matrix(*, at: datetime, user_id: int | None = None) -> Matrix:
    """
    Return the matrix of `at`, with the alerts of a person who is logged in.
    """
    regions = list(Region.objects.order_by("name"))
    stock = {(row["gpu_id"], row["region_id"]): row for row in _stock(at)}
    asks = {
        (gpu_id, ask.region.slug): ask
        for gpu_id, found in best_asks(at=at, gpus=None).items()
        for ask in found
    }
    alerts = _alerts(user_id)

    def cell(gpu: GpuModel, region: Region) -> Cell:
        place = (gpu.pk, region.pk)
        found = stock.get(place, {})
        best = asks.get((gpu.pk, region.slug))
        # What is free at a price that is still true.
        free = best.free_nodes if best else 0
        return Cell(
            gpu=gpu,
            region=region,
            free_nodes=free,
            unconfirmed=found.get("free", 0) - free,
            changed_at=found.get("changed_at"),
            best=best,
            alert=alerts.get(place),
        )

    rows = [
        Row(gpu=gpu, cells=[cell(gpu, region) for region in regions])
        for gpu in GpuModel.objects.order_by("label")
    ]
    return Matrix(regions=regions, rows=sorted(rows, key=lambda row: not row.is_free))


def _stock(at: datetime) -> Any:
    places = Offer.objects.listed(at).order_by().values("gpu_id", "region_id")
    return places.annotate(
        free=Sum("free_nodes"), changed_at=Max(Greatest("free_changed_at", "listed_at"))
    )


def _alerts(user_id: int | None) -> dict[tuple[int, int], UUID]:
    if user_id is None:
        return {}
    alerts = StockAlert.objects.filter(user=user_id)
    rows = alerts.values_list("gpu", "region", "pk")
    return {(gpu_id, region_id): pk for gpu_id, region_id, pk in rows}
