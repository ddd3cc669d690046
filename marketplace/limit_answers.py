"""
What a limit would get: nodes asked below it, requests before it, and the outcome.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import ROUND_DOWN, Decimal
from typing import Any

from djmoney.money import Money

from catalog import exchange
from catalog.models import Region
from marketplace import book
from marketplace.matching import Ask, Bid, match_book, price_of
from marketplace.order_book import OrderBook
from workspaces.models import Workspace
from workspaces.queueing import ranked

MOST_BEFORE = 2000
"""More requests than that are not played through for a page."""

NOBODY = "~"
RANK_STEP = Decimal("0.000001")


@dataclass(frozen=True, kw_only=True)
class WantedNode:
    """
    A request as far as the book asks for it; no region means any.
    """

    limit: Money
    hours: int
    gpus: int
    region: str


@dataclass(frozen=True, kw_only=True)
class LimitAnswer:
    """
    `below` are the free nodes asked at the limit or under it, `before` the requests
    that come first. `price` and `place` are those of the node that it would get, None
    if it would wait; `best` is the cheapest ask for it, in the currency of the limit.
    """

    limit: Money
    below: int
    before: int
    is_played: bool
    price: Money | None
    place: Region | None
    best: Money | None


def answer_of(
    wanted: WantedNode, *, gpu_id: int, page: OrderBook, at: datetime
) -> LimitAnswer:
    """
    Return what the limit would get from the book as it stands, by the rule itself.
    """
    asks = {offer.pk: _ask(offer) for offer in page.offers}
    bid = _bid(wanted, gpu_id=gpu_id, page=page, at=at)
    prices = sorted(_prices(bid, asks.values(), at=at))
    rivals = _rivals(bid, at=at)
    is_played = len(rivals) <= MOST_BEFORE
    found = _play(bid, rivals, asks.values(), at=at) if is_played else None
    place = next((o.region for o in page.offers if found and o.pk == found.key), None)
    return LimitAnswer(
        limit=wanted.limit,
        below=sum(nodes for price, nodes in prices if price <= bid.limit),
        # Without a region they all are rivals, also where nothing is asked now.
        before=sum(wanted.region in {"", *rival.regions} for rival in rivals),
        is_played=is_played,
        price=Money(price_of(found, bid), bid.currency) if found else None,
        place=place,
        best=Money(prices[0][0], bid.currency) if prices else None,
    )


def _rivals(bid: Bid, *, at: datetime) -> list[Bid]:
    """
    Return what comes before a bid, or as much of it as says that it is too much.
    """
    waiting = Workspace.objects.waiting().filter(gpu_id=bid.gpu_id, gpus=bid.gpus)
    # PostgreSQL divides to fewer digits than Python: what it finds is compared again.
    least = bid.rank.quantize(RANK_STEP, rounding=ROUND_DOWN)
    rivals = book.bids_of(
        gpu_ids=[bid.gpu_id],
        at=at,
        before_opening=True,
        among=ranked(waiting).filter(rank__gte=least)[: MOST_BEFORE + 1],
    )
    return [rival for rival in rivals if rival.rank >= bid.rank]


def _prices(
    bid: Bid, asks: Iterable[Ask], *, at: datetime
) -> Iterator[tuple[Decimal, int]]:
    """
    Return what each node costs that it could take, whatever its limit, and how many.
    """
    until = at + timedelta(hours=bid.hours)
    for ask in asks:
        is_lasting = ask.available_until is None or ask.available_until >= until
        is_there = ask.region in bid.regions and ask.gpus_per_node == bid.gpus
        is_meant = is_lasting and is_there and ask.key not in bid.avoids
        if is_meant and ask.currency in bid.rates:
            yield price_of(ask, bid), ask.free_nodes


def _play(
    bid: Bid, rivals: Iterable[Bid], asks: Iterable[Ask], *, at: datetime
) -> Ask | None:
    for winner, ask in match_book(bids=[*rivals, bid], asks=asks, at=at):
        if winner is bid:
            return ask
    return None


def _bid(wanted: WantedNode, *, gpu_id: int, page: OrderBook, at: datetime) -> Bid:
    regions = [wanted.region] if wanted.region else [r.slug for r in page.regions]
    currency = str(wanted.limit.currency)
    # As a quote would freeze them now, so that equal limits are of equal rank.
    rates = exchange.rates(at=at, into=currency)
    return Bid(
        key=NOBODY,
        gpu_id=gpu_id,
        gpus=wanted.gpus,
        regions=frozenset(regions),
        hours=wanted.hours,
        limit=wanted.limit.amount,
        rank=book.rank_of(wanted.limit.amount, rates),
        currency=currency,
        rates=rates,
        funded_at=at,
        avoids=frozenset(offer.pk for offer in page.offers if offer.is_own),
    )


def _ask(offer: Any) -> Ask:
    return Ask(
        key=offer.pk,
        gpu_id=offer.gpu_id,
        gpus_per_node=offer.gpus_per_node,
        region=offer.region.slug,
        free_nodes=offer.free_nodes,
        price=offer.hourly_amount,
        currency=offer.hourly_currency,
        listed_at=offer.listed_at,
        available_until=offer.available_until,
    )
