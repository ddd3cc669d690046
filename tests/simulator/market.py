"""
Who should get which node: the rule of the order book, the slow and obvious way.
"""

from dataclasses import InitVar, dataclass, field
from fractions import Fraction

from tests.simulator.books import HOUR, half_up

DAY = 24 * HOUR
STALE_AFTER = 30 * DAY


@dataclass
class Price:
    """
    What is asked from a moment on, in millionths of the offer's currency.
    """

    since: int
    ask: int
    confirmed_at: int


@dataclass(eq=False, kw_only=True)
class Offer:
    """
    A supplier's equal nodes. Those that staff listed start by themselves.
    """

    id: int
    payee: str
    gpu: int
    gpus: int
    region: str
    nodes: int
    ask: InitVar[int]
    currency: str
    listed_at: int
    is_simulated: bool = False
    until: int | None = None
    is_paused: bool = False
    is_removed: bool = False
    # The requests that are on its nodes: more than it has, if it has fewer since.
    taken: set = field(default_factory=set)
    prices: list = field(default_factory=list)

    def __post_init__(self, ask):
        self.prices = [Price(self.listed_at, ask, self.listed_at)]

    def price_at(self, at):
        started = [price for price in self.prices if price.since <= at]
        return max(started, key=lambda price: price.since)

    def set_ask(self, ask, at):
        """
        Ask something else from now on, or confirm what is asked already.
        """
        now = self.price_at(at)
        if ask == now.ask:
            now.confirmed_at = at
        else:
            self.prices.append(Price(at, ask, at))

    @property
    def is_listed(self):
        return not self.is_paused and not self.is_removed

    @property
    def free(self):
        return max(self.nodes - len(self.taken), 0)

    def withdraw(self):
        """
        Take one of the taken nodes off, one that was to leave anyway if there are any.
        """
        if len(self.taken) <= self.nodes:
            self.nodes -= 1

    def is_live(self, at):
        is_true = self.price_at(at).confirmed_at >= at - STALE_AFTER
        lasts = self.until is None or self.until > at
        return self.is_listed and is_true and lasts and self.free > 0

    def exact(self, terms, at):
        """
        Return the ask in millionths of the wallet's currency, unrounded, at the frozen
        rate.
        """
        return Fraction(self.price_at(at).ask) * terms.rates[self.currency]

    def price(self, terms, at):
        return half_up(self.exact(terms, at))

    def suits(self, terms, hours, at):
        lasts = self.until is None or self.until >= at + hours * HOUR
        is_of_size = (self.gpu, self.gpus) == (terms.gpu, terms.gpus)
        return (
            is_of_size and self.region in terms.regions and lasts and self.is_live(at)
        )


@dataclass
class Market:
    offers: list = field(default_factory=list)
    requests: list = field(default_factory=list)
    # Every match: the request, the offer and the ask.
    matches: list = field(default_factory=list)
    is_open: bool = False

    def in_states(self, *states):
        return [request for request in self.requests if request.state in states]

    def best(self, terms, at):
        """
        Return the lowest ask that a request could take now, or None.
        """
        hours = -(-terms.seconds // HOUR)
        asks = [o.price(terms, at) for o in self.offers if o.suits(terms, hours, at)]
        return min(asks, default=None)

    def choices(self, request, at):
        hours = -(-request.seconds_left // HOUR)
        return [
            offer
            for offer in self.offers
            if offer.suits(request.terms, hours, at)
            and offer not in request.avoids
            and offer.price(request.terms, at) <= request.limit
        ]

    def waiting(self, at):
        """
        Return who is in the book, in turn: the highest limit in dollars, then who funded first.
        """
        requests = [
            request
            for request in self.requests
            if request.is_waiting
            and (request.terms.deadline is None or request.terms.deadline > at)
        ]
        return sorted(
            requests,
            key=lambda request: (
                request.terms.gpu,
                -request.limit / request.terms.rates["USD"],
                request.funded_at,
            ),
        )

    def match(self, at):
        if not self.is_open:
            return
        for request in self.requests:
            if request.state == "FUNDED":
                request.go("QUEUED")
        for request in self.waiting(at):
            choices = self.choices(request, at)
            if choices:
                terms = request.terms
                offer = min(
                    choices, key=lambda o: (o.exact(terms, at), o.listed_at, o.id)
                )
                request.match(offer, offer.price(terms, at), at)
                self.matches.append((request, offer, offer.price_at(at).ask))
        assert not any(self.choices(who, at) for who in self.waiting(at))
