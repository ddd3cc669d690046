"""
An order book of made-up requests and offers, and whether its matches can be right.

Three currencies, five regions and four sizes of node, the same for the same seed.
"""

import random
from datetime import UTC, datetime, timedelta
from decimal import Decimal

from marketplace.matching import Ask, Bid, Pairing

SEED = 20_261_201
AT = datetime(2026, 12, 1, 12, tzinfo=UTC)
REGIONS = ("paris", "frankfurt", "warsaw", "ashburn", "singapore")
SIZES = (1, 2, 4, 8)
GPUS = 25
# What one unit of another currency is in the one of the key.
RATES = {
    "USD": {"USD": "1", "EUR": "1.0389", "GBP": "1.2510"},
    "EUR": {"USD": "0.962557", "EUR": "1", "GBP": "1.204158"},
    "GBP": {"USD": "0.799361", "EUR": "0.830455", "GBP": "1"},
}
RATES_OF = {
    code: {other: Decimal(rate) for other, rate in rates.items()}
    for code, rates in RATES.items()
}


def build(*, requests: int, offers: int) -> tuple[list[Bid], list[Ask]]:
    chance = random.Random(SEED)  # noqa: S311
    asks = [make_ask(number, chance) for number in range(offers)]
    return [make_bid(number, chance) for number in range(requests)], asks


def make_ask(number: int, chance: random.Random) -> Ask:
    lasts = chance.choice([None, None, None, 12, 60, 200])
    return Ask(
        key=number,
        gpu_id=chance.randrange(GPUS),
        gpus_per_node=chance.choice(SIZES),
        region=chance.choice(REGIONS),
        free_nodes=chance.randint(1, 12),
        price=Decimal(chance.randint(20, 400)) / 100,
        currency=chance.choice(list(RATES)),
        listed_at=AT - timedelta(minutes=chance.randint(1, 100_000)),
        available_until=None if lasts is None else AT + timedelta(hours=lasts),
    )


def make_bid(number: int, chance: random.Random) -> Bid:
    currency = chance.choice(list(RATES))
    limit = Decimal(chance.randint(20, 400)) / 100
    return Bid(
        key=f"{number:06}",
        gpu_id=chance.randrange(GPUS),
        gpus=chance.choice(SIZES),
        regions=frozenset(chance.sample(REGIONS, chance.randint(1, 3))),
        hours=chance.choice([8, 40, 120]),
        limit=limit,
        rank=limit / RATES_OF[currency]["USD"],
        currency=currency,
        rates=RATES_OF[currency],
        funded_at=AT - timedelta(seconds=chance.randint(1, 1_000_000)),
    )


def check(bids: list[Bid], asks: list[Ask], pairings: list[Pairing]) -> None:
    """
    Refuse a fast answer that is wrong: one node a request, and none twice.
    """
    left = {ask.key: ask.free_nodes for ask in asks}
    for _bid, ask in pairings:
        left[ask.key] -= 1
    if min(left.values()) < 0 or len({bid.key for bid, _ in pairings}) < len(pairings):
        raise SystemExit("The matches are wrong.")
