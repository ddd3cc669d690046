"""
The worked example of the page "How matching works", played by the rule itself.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from marketplace.matching import Ask, Bid, match_book

CURRENCY = "USD"
HOURS = 40
FRANKFURT, PARIS = "Frankfurt", "Paris"
# Key, price, region, days on the list.
ASKS = [(1, "0.33", FRANKFURT, 9), (2, "0.33", PARIS, 2), (3, "0.40", FRANKFURT, 5)]
# Key, limit, regions, hours since it was funded.
BIDS = [
    ("A", "0.45", [FRANKFURT], 4),
    ("B", "0.45", [FRANKFURT, PARIS], 3),
    ("C", "0.42", [FRANKFURT], 8),
    ("D", "0.38", [FRANKFURT, PARIS], 9),
]
WHY: dict[str, Promise] = {
    "A": _("The highest limit, and funded before B: it takes the cheapest node."),
    "B": _("The same limit, later: of its regions, Paris has a node at that price."),
    "C": _("Funded before A and B, but with a lower limit: what is left is dearer."),
    "D": _("Funded first of all, but no node within its limit is left: it waits."),
}


@dataclass(frozen=True, kw_only=True)
class Turn:
    """
    One request of the example and what it gets; `returned` comes back of its hold.
    """

    name: str
    limit: Money
    regions: list[str]
    funded_at: datetime
    why: Promise
    price: Money | None = None
    region: str = ""
    returned: Money | None = None


def asks(at: datetime) -> list[Ask]:
    return [
        Ask(
            key=key,
            gpu_id=1,
            gpus_per_node=1,
            region=region,
            free_nodes=1,
            price=Decimal(price),
            currency=CURRENCY,
            listed_at=at - timedelta(days=days),
        )
        for key, price, region, days in ASKS
    ]


def listed(at: datetime) -> list[tuple[Ask, Money]]:
    """
    Return the asks with their prices, as a page shows them.
    """
    return [(ask, Money(ask.price, ask.currency)) for ask in asks(at)]


def turns(at: datetime) -> list[Turn]:
    """
    Return the requests in the order in which the rule hears them.
    """
    bids = [_bid(*row, at) for row in BIDS]
    got = {bid.key: ask for bid, ask in match_book(bids=bids, asks=asks(at), at=at)}
    heard = sorted(bids, key=lambda bid: (-bid.rank, bid.funded_at))
    return [_turn(bid, got.get(bid.key)) for bid in heard]


def _bid(key: str, limit: str, regions: list[str], hours: int, at: datetime) -> Bid:
    return Bid(
        key=key,
        gpu_id=1,
        gpus=1,
        regions=frozenset(regions),
        hours=HOURS,
        limit=Decimal(limit),
        rank=Decimal(limit),
        currency=CURRENCY,
        rates={CURRENCY: Decimal(1)},
        funded_at=at - timedelta(hours=hours),
    )


def _turn(bid: Bid, ask: Ask | None) -> Turn:
    return Turn(
        name=bid.key,
        limit=Money(bid.limit, CURRENCY),
        regions=sorted(bid.regions),
        funded_at=bid.funded_at,
        why=WHY[bid.key],
        price=Money(ask.price, CURRENCY) if ask else None,
        region=ask.region if ask else "",
        returned=Money((bid.limit - ask.price) * HOURS, CURRENCY) if ask else None,
    )
