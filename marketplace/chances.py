"""
What a supplier would earn of what waits by adding one more node.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from djmoney.money import Money

from catalog.models import GpuModel, Region
from catalog.names import region_name
from marketplace.matching import Ask
from marketplace.suppliers.desk import MONTH_HOURS, share_of
from money import round_half_up
from workspaces.queueing import BOOK_CURRENCY

# A GPU, a region and the number of GPUs of a node.
Place = tuple[int, str, int]


class Waiting(NamedTuple):
    """
    A funded request that waits: `money` and `limit` are in the book's currency.
    """

    key: str
    renter: int
    gpu_id: int
    gpus: int
    regions: frozenset[str]
    method: str
    model_id: int
    sequence_length: int
    hours: int
    limit: Decimal
    money: Decimal
    is_met: bool

    @property
    def gpu_hours(self) -> int:
        return self.gpus * self.hours


@dataclass(frozen=True, kw_only=True)
class NodeChance:
    """
    What one more node would earn of what waits: at `ask`, the one that brings most.

    `gpu_hours` of funded work would take it, at most a month of them.
    """

    gpu_id: int
    gpu: str
    region: str
    region_slug: str
    gpus: int
    waiting_gpus: int
    free_gpus: int
    ask: Money
    gpu_hours: int

    @property
    def earns(self) -> Money:
        net = share_of(self.ask, gpus=self.gpus).net
        node_hours = Decimal(self.gpu_hours) / self.gpus
        return Money(round_half_up(net.amount * node_hours), net.currency)


class Names(NamedTuple):
    """
    GPUs by their number and regions by their slug, as they are called on a page.
    """

    gpus: dict[int, str]
    regions: dict[str, str]


def read_names() -> Names:
    return Names(
        gpus=dict(GpuModel.objects.values_list("pk", "label")),
        regions={region.slug: region_name(region) for region in Region.objects.all()},
    )


def chances_of(
    rows: Sequence[Waiting],
    asks: Iterable[Ask],
    names: Names,
    *,
    fewest_renters: int = 1,
) -> list[NodeChance]:
    """
    Return, for each place where more waits than is free, what a node there would earn.

    Left out is what fewer than `fewest_renters` different renters would pay.
    """
    places: dict[Place, list[Waiting]] = defaultdict(list)
    for row in rows:
        for region in row.regions:
            places[row.gpu_id, region, row.gpus].append(row)
    free = _free_gpus(asks)
    chances = []
    for (gpu_id, region, size), there in places.items():
        unmet = [row for row in there if not row.is_met]
        best = _best_ask(unmet, size, fewest_renters)
        if best is None:
            continue
        ask, hours = best
        chances.append(
            NodeChance(
                gpu_id=gpu_id,
                gpu=names.gpus[gpu_id],
                region=names.regions.get(region, region),
                region_slug=region,
                gpus=size,
                waiting_gpus=sum(row.gpus for row in there),
                free_gpus=free[gpu_id, region, size],
                ask=Money(ask, BOOK_CURRENCY),
                gpu_hours=hours,
            )
        )
    return sorted(chances, key=lambda row: (-row.earns.amount, row.gpu, row.region))


def _free_gpus(asks: Iterable[Ask]) -> dict[Place, int]:
    free: dict[Place, int] = defaultdict(int)
    for ask in asks:
        place = (ask.gpu_id, ask.region, ask.gpus_per_node)
        free[place] += ask.free_nodes * ask.gpus_per_node
    return free


def _best_ask(
    unmet: Sequence[Waiting], size: int, fewest_renters: int
) -> tuple[Decimal, int] | None:
    """
    Return the ask at which one node earns most from what waits, and for how long.

    Whoever pays that much or more could take it, one after the other, for a month.
    """
    options = []
    for limit in {row.limit for row in unmet}:
        takers = [row for row in unmet if row.limit >= limit]
        if len({row.renter for row in takers}) >= fewest_renters:
            hours = sum(row.gpu_hours for row in takers)
            options.append((limit, min(hours, MONTH_HOURS * size)))
    # Never above what is taken for certain: a limit is the most that somebody pays.
    return max(
        options, key=lambda option: (option[0] * option[1], -option[0]), default=None
    )
