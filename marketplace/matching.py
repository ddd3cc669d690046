"""
The order book rule, over plain records: no database, no clock.

Bids come first by limit, highest first, then by the time they were funded, then by
their key. Each takes the cheapest ask that is of its GPU, in one of its regions, has
a free node of exactly its size and lasts long enough; of equal asks the older one. An
ask that the bid avoids, where it could not be started or which is its owner's own, is
left out. A bid pays the ask and never more than its limit. It takes one whole node or
nothing.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from money import round_half_up

FOREVER = float("inf")
RATE_PLACES = 6
HALF_A_STEP = Decimal("0.0000005")
"""From this much above a limit of six decimals on, `price_of` is above it too."""


@dataclass(frozen=True, slots=True)
class Bid:
    """
    A funded request: what it needs and the most it pays per GPU-hour, in `currency`.

    `rates` turns an ask's currency into the bid's, as frozen in the bid's quote; an
    ask in a currency that is missing there cannot be taken. `rank` is the limit in
    the one currency that all bids of a book are compared in. `avoids` are the keys of
    asks that it does not take: where it could not be started, or its owner's own.
    """

    key: str
    gpu_id: int
    gpus: int
    regions: frozenset[str]
    hours: int
    limit: Decimal
    rank: Decimal
    currency: str
    rates: Mapping[str, Decimal]
    funded_at: datetime
    avoids: frozenset[int] = frozenset()


@dataclass(frozen=True, slots=True)
class Ask:
    """
    An offer: nodes of one size, at one price per GPU-hour.
    """

    key: int
    gpu_id: int
    gpus_per_node: int
    region: str
    free_nodes: int
    price: Decimal
    currency: str
    listed_at: datetime
    available_until: datetime | None = None


class Pairing(NamedTuple):
    """
    A bid and the ask it takes; the price is the ask's.
    """

    bid: Bid
    ask: Ask


class LaneKey(NamedTuple):
    """
    What asks have in common that are compared by their own price alone.
    """

    gpu_id: int
    gpus: int
    region: str
    currency: str


@dataclass(slots=True)
class Lane:
    """
    Asks of one kind, cheapest first, that answer "the first one that lasts until".

    `ends` is a tree over them: a leaf holds until when its ask can be taken (0 when
    no node is left), a parent the later end of its two children. So the first ask
    that lasts long enough is found without looking at those before it.
    """

    asks: Sequence[Ask]
    left: list[int] = field(init=False)
    ends: list[float] = field(init=False)
    width: int = field(init=False)

    def __post_init__(self) -> None:
        self.asks = sorted(self.asks, key=lambda ask: (ask.price, _age(ask)))
        self.left = [ask.free_nodes for ask in self.asks]
        self.width = 1 << (len(self.asks) - 1).bit_length()
        leaves = [_end(ask) if ask.free_nodes > 0 else 0.0 for ask in self.asks]
        self.ends = [0.0] * self.width + leaves
        self.ends += [0.0] * (2 * self.width - len(self.ends))
        for node in range(self.width - 1, 0, -1):
            self.ends[node] = max(self.ends[2 * node], self.ends[2 * node + 1])

    def first_lasting(self, until: float, avoids: Collection[int] = ()) -> int | None:
        """
        Return the place of the cheapest ask with a free node that lasts `until`.
        """
        place = self._first(until)
        if place is None or self.asks[place].key not in avoids:
            return place
        # A bid avoids few asks, and most avoid none, so walking is cheap.
        others = range(place + 1, len(self.asks))
        return next(
            (other for other in others if self._suits(other, until, avoids)), None
        )

    def _first(self, until: float) -> int | None:
        if self.ends[1] < until:
            return None
        node = 1
        while node < self.width:
            node *= 2
            if self.ends[node] < until:
                node += 1
        return node - self.width

    def _suits(self, place: int, until: float, avoids: Collection[int]) -> bool:
        return (
            self.ends[self.width + place] >= until
            and self.asks[place].key not in avoids
        )

    def take(self, place: int) -> None:
        """
        Take one node of the ask at `place`.
        """
        self.left[place] -= 1
        if self.left[place]:
            return
        node = self.width + place
        self.ends[node] = 0.0
        while node > 1:
            node //= 2
            self.ends[node] = max(self.ends[2 * node], self.ends[2 * node + 1])


def match_book(
    *, bids: Iterable[Bid], asks: Iterable[Ask], at: datetime
) -> list[Pairing]:
    """
    Return who gets what, in the order in which the rule decides it.

    The same book gives the same pairings, whatever order its records come in.
    """
    lanes = _lanes(asks)
    pairings = []
    for bid in sorted(bids, key=_turn):
        found = _best(bid, lanes, (at + timedelta(hours=bid.hours)).timestamp())
        if found:
            lane, place = found
            lane.take(place)
            pairings.append(Pairing(bid, lane.asks[place]))
    return pairings


def price_of(ask: Ask, bid: Bid) -> Decimal:
    """
    Return what the bid would pay per GPU-hour, in its currency and to six decimals.
    """
    # Rounded like the quote whose ask may have been taken as the limit.
    return round_half_up(ask.price * bid.rates[ask.currency], RATE_PLACES)


def cheapest(bid: Bid, asks: Iterable[Ask], *, at: datetime) -> Ask | None:
    """
    Return the ask that a bid would take, were its limit high enough.
    """
    free = replace(bid, limit=Decimal("Infinity"))
    found = _best(free, _lanes(asks), (at + timedelta(hours=bid.hours)).timestamp())
    return found[0].asks[found[1]] if found else None


def decided_from(
    *, bids: Iterable[Bid], asks: Iterable[Ask], pairings: Sequence[Pairing]
) -> tuple[list[Bid], list[Ask]]:
    """
    Return the part of a book that its first pairings follow from.

    That are the bids whose turn had come, matched or not, in their order, and the asks
    in their places and of their sizes.
    """
    if not pairings:
        return [], []
    last = _turn(pairings[-1].bid)
    heard = sorted((bid for bid in bids if _turn(bid) <= last), key=_turn)
    places = {(bid.gpu_id, bid.gpus, region) for bid in heard for region in bid.regions}
    looked_at = [
        ask for ask in asks if (ask.gpu_id, ask.gpus_per_node, ask.region) in places
    ]
    return heard, sorted(looked_at, key=lambda ask: ask.key)


def _turn(bid: Bid) -> tuple[Decimal, datetime, str]:
    return (-bid.rank, bid.funded_at, bid.key)


def _age(ask: Ask) -> tuple[datetime, int]:
    return (ask.listed_at, ask.key)


def _end(ask: Ask) -> float:
    return ask.available_until.timestamp() if ask.available_until else FOREVER


def _lanes(asks: Iterable[Ask]) -> dict[LaneKey, Lane]:
    groups: dict[LaneKey, list[Ask]] = {}
    for ask in asks:
        key = LaneKey(ask.gpu_id, ask.gpus_per_node, ask.region, ask.currency)
        groups.setdefault(key, []).append(ask)
    return {key: Lane(group) for key, group in groups.items()}


def _best(
    bid: Bid, lanes: Mapping[LaneKey, Lane], until: float
) -> tuple[Lane, int] | None:
    """
    Return the lane and place of the ask that this bid takes, if there is one.
    """
    best = None
    over = bid.limit + HALF_A_STEP
    for region in bid.regions:
        for currency, rate in bid.rates.items():
            lane = lanes.get(LaneKey(bid.gpu_id, bid.gpus, region, currency))
            place = lane.first_lasting(until, bid.avoids) if lane else None
            if lane is None or place is None:
                continue
            ask = lane.asks[place]
            price = ask.price * rate
            if price >= over:
                continue
            order = (price, _age(ask))
            if best is None or order < best[0]:
                best = (order, lane, place)
    return (best[1], best[2]) if best else None
