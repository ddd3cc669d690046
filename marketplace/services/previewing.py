"""
What the opening would do, without doing it.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal

from django.db.models import Count, Sum
from djmoney.money import Money

from marketplace import book
from marketplace.matching import Pairing, match_book, price_of
from money import quantize
from workspaces.models import Workspace


@dataclass
class DryRun:
    """
    What would be matched for one GPU, and for how much.

    `held` is what is set aside for all that wait; `compute` what the GPUs of the
    matched ones cost for all their hours, at the asks that they would take.
    """

    gpu_label: str
    waiting: int
    matched: int = 0
    gpu_hours: int = 0
    held: list[Money] = field(default_factory=list)
    compute: list[Money] = field(default_factory=list)


def preview_opening(*, at: datetime) -> list[DryRun]:
    """
    Return what the opening would match at `at`, GPU by GPU.

    What is stopped and waits to go on counts as everything else that waits.
    """
    # PostgreSQL groups by what a queryset is ordered by.
    waiting = Workspace.objects.waiting().order_by()
    per_gpu = waiting.values_list("gpu_id", "gpu__label").annotate(Count("pk"))
    runs = {
        gpu_id: DryRun(gpu_label=label, waiting=number)
        for gpu_id, label, number in per_gpu
    }
    per_wallet = waiting.values_list("gpu_id", "currency").annotate(
        Sum("quote__hold_amount")
    )
    for gpu_id, currency, held in per_wallet.order_by("-currency"):
        runs[gpu_id].held.append(Money(held, currency))
    pairings = match_book(
        bids=book.bids_of(gpu_ids=runs, at=at, before_opening=True),
        asks=book.asks_of(gpu_ids=runs, at=at),
        at=at,
    )
    for gpu_id, run in runs.items():
        _add(run, [pairing for pairing in pairings if pairing.bid.gpu_id == gpu_id])
    return sorted(runs.values(), key=lambda run: run.gpu_label)


def _add(run: DryRun, pairings: Iterable[Pairing]) -> None:
    compute: dict[str, Decimal] = defaultdict(Decimal)
    for bid, ask in pairings:
        run.matched += 1
        run.gpu_hours += bid.gpus * bid.hours
        compute[bid.currency] += price_of(ask, bid) * bid.gpus * bid.hours
    run.compute = [
        quantize(Money(amount, currency))
        for currency, amount in sorted(compute.items(), reverse=True)
    ]
