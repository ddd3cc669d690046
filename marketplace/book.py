"""
The order book as it stands: offers and requests, read as the records of the rule.
"""

from collections.abc import Iterable, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import OuterRef, Q, QuerySet

from catalog.models import Offer
from marketplace.matching import Ask, Bid
from workspaces.models import Workspace
from workspaces.queueing import BOOK_CURRENCY

BID_COLUMNS = (
    "user_id",
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
    *,
    gpu_ids: Iterable[int],
    at: datetime,
    before_opening: bool = False,
    among: QuerySet[Workspace] | None = None,
) -> list[Bid]:
    """
    Return the requests for some GPUs that wait, unless their start deadline is over.

    Those are the ones in the order book, and `before_opening` also those that will be
    in it when the market opens. `among` keeps those that it holds.
    """
    book = Workspace.objects.waiting() if before_opening else Workspace.objects.queued()
    waiting = book.filter(
        Q(start_deadline__isnull=True) | Q(start_deadline__gt=at),
        gpu_id__in=gpu_ids,
    )
    if among is not None:
        waiting = waiting.filter(pk__in=among.values("pk"))
    return [
        _bid(workspace)
        for workspace in waiting.select_related("quote")
        .only(*BID_COLUMNS)
        .annotate(own_offers=_own_offers())
    ]


def rank_of(limit: Decimal, rates: Mapping[str, Decimal]) -> Decimal:
    """
    Return a limit in the book's currency, by the rates into its own currency.
    """
    # Without that rate it can take no ask in the book's currency anyway.
    return limit / rates.get(BOOK_CURRENCY, Decimal(1))


def _own_offers() -> ArraySubquery:
    """
    Return the offers of the supplier for which the owner of a request acts.
    """
    own = Offer.objects.filter(
        supplier__members__user=OuterRef("user"), gpu=OuterRef("gpu")
    )
    return ArraySubquery(own.values("pk"))


def _bid(workspace: Any) -> Bid:
    rates = workspace.quote.rates()
    return Bid(
        key=str(workspace.pk),
        gpu_id=workspace.gpu_id,
        gpus=workspace.gpus,
        regions=frozenset(workspace.regions),
        hours=workspace.hours_left,
        limit=workspace.limit_price.amount,
        rank=rank_of(workspace.limit_price.amount, rates),
        currency=workspace.currency,
        rates=rates,
        funded_at=workspace.funded_at,
        # Nobody rents from themselves: it would move the price, and nothing else.
        avoids=frozenset([*workspace.avoided_offers, *workspace.own_offers]),
    )
