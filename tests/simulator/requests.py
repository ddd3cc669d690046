"""
What should become of a request: its states, its node and its money, in memory.

Written from the design, like the books that it moves money in. Prices are whole
millionths of the currency of the wallet that pays, for a GPU and hour.
"""

from dataclasses import dataclass, field
from fractions import Fraction

from tests.simulator.books import HOUR, Books, Hold, Meter, Refused, half_up

DAY = 24 * HOUR
FEE_RATE = Fraction(1, 10)
MOST_KEPT = 30 * DAY
ON_A_NODE = {"MATCHED", "PROVISIONING", "RUNNING"}
GIVEN_BACK = {"QUEUED", "CANCELLED", "FAILED", "STOPPED", "ENDED"}
LEGAL = {
    "FUNDED": {"QUEUED", "CANCELLED", "EXPIRED"},
    "QUEUED": {"MATCHED", "CANCELLED", "EXPIRED", "STOPPED", "ENDED"},
    "MATCHED": {"PROVISIONING"} | GIVEN_BACK,
    "PROVISIONING": {"RUNNING"} | GIVEN_BACK,
    "RUNNING": {"STOPPED", "ENDED", "QUEUED"},
    "STOPPED": {"MATCHED", "DELETED"},
}


@dataclass(kw_only=True)
class Terms:
    """
    What is asked for, and the most it may cost; `storage` is in cents a second.

    `rates` say what one unit of each currency is in that of the wallet that pays.
    """

    gpu: int
    gpus: int
    regions: frozenset
    seconds: int
    limit: int
    currency: str
    rates: dict
    gb: int
    storage: Fraction
    kept: int
    deadline: int | None = None
    is_retried: bool = False

    def cost(self, seconds, price):
        """
        Return the cents that `seconds` cost, with storage during and after them.
        """
        stored = half_up(self.storage * (seconds + self.kept)) if self.storage else 0
        return half_up(self.pace(price) * seconds) + stored

    def pace(self, price):
        return Fraction(price * self.gpus, 10_000 * HOUR)


@dataclass(eq=False)
class Request:
    books: Books
    hold: Hold
    terms: Terms
    funded_at: int
    state: str = "FUNDED"
    # Every state that it was in, one after the other.
    states: list = field(default_factory=lambda: ["FUNDED"])
    offer: object = None
    price: int | None = None
    data_offer: object = None
    avoids: set = field(default_factory=set)
    compute: Meter | None = None
    storage: Meter | None = None
    has_run: bool = False
    is_resuming: bool = False
    stopped_at: int | None = None
    kept_until: int | None = None
    days_left: int = 0
    provisioning_at: int | None = None
    # Cents that are there for less time than was wanted, until it is known how long.
    room: int | None = None

    def __post_init__(self):
        self.limit = self.terms.limit
        self.seconds_left = self.terms.seconds

    @property
    def is_waiting(self):
        is_stopped = self.state == "STOPPED" and self.is_resuming
        return self.state == "QUEUED" or is_stopped

    @property
    def is_interrupted(self):
        waits = self.state in {"QUEUED", "MATCHED", "PROVISIONING"}
        return self.has_run and not self.is_resuming and waits

    def go(self, state):
        assert state in LEGAL[self.state], f"{self.state} to {state}"
        self.state = state
        self.states.append(state)

    def need(self, *states):
        if self.state not in states:
            raise Refused

    def keeping(self, seconds):
        return half_up(self.terms.storage * seconds)

    def cost(self, price):
        return self.terms.cost(self.seconds_left, price)

    def match(self, offer, price, at):
        keep = self.cost(price)
        if self.is_resuming:
            left = max(self.kept_until - at, 0)
            self.days_left = max(left, HOUR)
            keep = max(keep, self.keeping(left))
        self.stop_meters(at)
        self.release_above(keep)
        offer.taken.add(self)
        self.offer, self.price = offer, price
        self.go("MATCHED")

    def provision(self, at):
        self.provisioning_at = at
        self.go("PROVISIONING")

    def ready(self, at):
        self.need("PROVISIONING")
        self.release_above(self.cost(self.price))
        end = at + self.seconds_left
        self.compute = self.run(self.terms.pace(self.price), at, end, self.offer)
        self.data_offer = self.offer
        self.store(at, end + self.terms.kept)
        self.has_run, self.is_resuming = True, False
        self.avoids, self.seconds_left = set(), 0
        self.stopped_at = self.kept_until = None
        self.go("RUNNING")

    def fail(self, at):
        self.need("MATCHED", "PROVISIONING")
        if self.terms.is_retried or self.is_interrupted:
            self.put_back(at)
        elif self.is_resuming:
            self.give_up_start(at)
        else:
            self.leave()
            self.books.release(self.hold)
            self.go("FAILED")

    def put_back(self, at):
        """
        Wait for another offer, with the same place in the queue.
        """
        self.avoids = {*self.avoids, self.offer}
        self.leave()
        if self.is_resuming:
            self.hold_again(besides=self.keep_again(at))
            self.go("STOPPED")
        else:
            self.hold_again(besides=0)
            self.go("QUEUED")

    def give_up_start(self, at):
        self.leave()
        self.release_above(self.keep_again(at))
        self.is_resuming, self.avoids = False, set()
        self.go("STOPPED")

    def give_up_resume(self, at):
        if not self.is_resuming:
            raise Refused
        if self.state != "STOPPED":
            self.give_up_start(at)
            return
        self.release_above(self.storage.to_come() if self.storage else 0)
        self.is_resuming, self.avoids = False, set()

    def keep_again(self, at):
        """
        Keep the data as long as was left when it got its node; return what that costs.
        """
        self.kept_until = at + self.days_left
        self.store(at, self.kept_until)
        return self.keeping(self.days_left)

    def hold_again(self, besides):
        """
        Let the limit count once more, or else the agreed price be the limit.
        """
        room = self.hold.remaining - besides
        missing = self.cost(self.limit) - room
        if missing > 0:
            try:
                self.books.add(self.hold, missing)
            except Refused:
                self.limit = self.price
                if self.cost(self.price) > room:
                    self.room = room

    def interrupt(self, at, is_withdrawn):
        """
        The supplier breaks off: the broken hour is free, the place in the queue stays.
        """
        self.need("RUNNING")
        if self.compute.end <= at:
            self.end(at)
            return
        if is_withdrawn:
            self.offer.withdraw()
        self.leave()
        self.hold.is_auto = False
        compute = self.compute
        self.stop_meters(at - at % HOUR)
        self.seconds_left = compute.end - compute.billed_until
        self.terms.deadline = None
        self.hold_again(besides=0)
        self.go("QUEUED")

    def stop(self, at, keeps_data):
        if not (self.state == "RUNNING" or self.is_interrupted):
            raise Refused
        if keeps_data and not self.terms.kept:
            raise Refused
        self.halt("STOPPED" if keeps_data else "ENDED", at)

    def end(self, at):
        """
        Give the node back, and keep the data if that was paid for.
        """
        self.halt("STOPPED" if self.terms.kept else "ENDED", at)

    def halt(self, to, at):
        now = at
        if self.state == "RUNNING":
            at = min(at, self.compute.end)
        self.leave()
        self.stopped_at, self.seconds_left, self.hold.is_auto = at, 0, False
        if to == "ENDED":
            self.stop_compute(at)
            # The data were there until somebody gave them up.
            self.stop_meters(now)
            self.books.release(self.hold)
        else:
            self.kept_until = at + self.terms.kept
            self.stop_compute(at)
            if self.storage:
                self.storage.end = self.kept_until
            else:
                self.store(at, self.kept_until)
            self.release_above(self.storage.to_come() if self.storage else 0)
        self.go(to)

    def delete(self, at):
        self.need("STOPPED")
        self.stop_meters(min(at, self.kept_until))
        self.books.release(self.hold)
        self.is_resuming = False
        self.go("DELETED")

    def cancel(self, at, to="CANCELLED"):
        self.need("FUNDED", "QUEUED", "MATCHED", "PROVISIONING")
        if self.has_run:
            raise Refused
        self.leave()
        self.books.release(self.hold)
        self.go(to)

    def stop_disputed(self, at):
        """
        Nothing that is paid from a frozen wallet runs or starts; paid data are kept.
        """
        if self.is_resuming:
            self.give_up_resume(at)
        elif self.state == "RUNNING" or self.is_interrupted:
            self.end(at)
        elif self.state in {"FUNDED", "QUEUED", "MATCHED", "PROVISIONING"}:
            self.cancel(at)

    def end_if_due(self, at):
        if self.state == "RUNNING" and self.compute.end <= at:
            self.end(at)
        elif self.state == "STOPPED" and self.kept_until <= at:
            self.delete(at)
        elif self.state in {"FUNDED", "QUEUED"} and self.is_late(at):
            self.cancel(at, to="EXPIRED")

    def is_late(self, at):
        deadline = self.terms.deadline
        return deadline is not None and deadline <= at

    def resume(self, terms, at):
        self.need("STOPPED")
        if self.is_resuming:
            raise Refused
        self.books.add(self.hold, terms.cost(terms.seconds, terms.limit))
        self.terms, self.limit, self.seconds_left = terms, terms.limit, terms.seconds
        self.is_resuming, self.funded_at, self.price = True, at, None

    def extend(self, by, at):
        self.need("RUNNING", "STOPPED")
        if self.state == "RUNNING":
            if self.compute.end <= at:
                raise Refused
            self.books.extend(self.hold, by)
            return
        until = self.kept_until + by
        if self.kept_until <= at or until > self.stopped_at + MOST_KEPT:
            raise Refused
        if self.storage:
            # What is held to go on is not there for the storage meanwhile.
            reserved = self.cost(self.limit) if self.is_resuming else 0
            self.books.extend(self.hold, by, reserved)
        self.kept_until = until

    def run(self, pace, start, end, offer):
        meter = Meter(pace, FEE_RATE, start, end, start, offer.payee)
        self.books.start(self.hold, meter)
        return meter

    def store(self, at, until):
        if self.terms.storage:
            self.storage = self.run(self.terms.storage, at, until, self.data_offer)

    def stop_compute(self, at):
        if self.compute:
            self.books.stop(self.hold, self.compute, at)
        self.compute = None

    def stop_meters(self, at):
        self.stop_compute(at)
        if self.storage:
            self.books.stop(self.hold, self.storage, at)
        self.storage = None

    def release_above(self, keep):
        more = self.hold.remaining - keep
        assert more >= 0, "The hold does not cover what it is for."
        if more:
            self.books.release(self.hold, more)

    def leave(self):
        if self.offer:
            self.offer.taken.discard(self)
        self.offer = None
