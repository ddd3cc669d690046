"""
The order book as it stands: offers and requests, read as the records of the rule.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Q, QuerySet

from catalog.models import Offer
from marketplace.matching import Ask, Bid
from workspaces.models import State, Workspace

BOOK_CURRENCY = settings.CURRENCIES[0]
"""What limits in different currencies are ranked in."""

BID_COLUMNS = (
    "gpu_id",
    "gpus",
    "regions",
    "seconds_left",
    "avoided_offers",
    "limit_price",
    "currency",
    "funded_at",
    "quote__exchange_rates",
    "quote__currency",
)


def asks_of(*, gpu_ids: Iterable[int], at: datetime) -> list[Ask]:
    """
    Return the offers of some GPUs that can be reserved at a price that is true.
    """
    offers: QuerySet[Any] = Offer.objects.live(at).filter(gpu_id__in=gpu_ids)
    rows = offers.values_list(
        "pk",
        "gpu_id",
        "gpus_per_node",
        "region__slug",
        "free_nodes",
        "hourly_amount",
        "hourly_currency",
        "listed_at",
        "available_until",
    )
    return [Ask(*row) for row in rows]


def bids_of(
    *, gpu_ids: Iterable[int], at: datetime, states: Iterable[State] = ()
) -> list[Bid]:
    """
    Return the requests for some GPUs that wait, unless their start deadline is over.

    Those are the ones in the order book, or else the ones in `states`.
    """
    book = Workspace.objects.queued()
    waiting = (Workspace.objects.filter(state__in=states) if states else book).filter(
        Q(start_deadline__isnull=True) | Q(start_deadline__gt=at),
        gpu_id__in=gpu_ids,
    )
    return [
        _bid(workspace)
        for workspace in waiting.select_related("quote").only(*BID_COLUMNS)
    ]


def _bid(workspace: Workspace) -> Bid:
    rates = workspace.quote.rates()
    return Bid(
        key=str(workspace.pk),
        gpu_id=workspace.gpu_id,
        gpus=workspace.gpus,
        regions=frozenset(workspace.regions),
        hours=workspace.hours_left,
        limit=workspace.limit_price.amount,
        # Without that rate it can take no ask in the book's currency anyway.
        rank=workspace.limit_price.amount / rates.get(BOOK_CURRENCY, Decimal(1)),
        rates=rates,
        funded_at=workspace.funded_at,
        avoids=frozenset(workspace.avoided_offers),
    )
