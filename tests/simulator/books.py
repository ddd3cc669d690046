"""
What should become of the money: its rules over plain records, in memory, without SQL.

Written from the design and not from the code, so that both can only agree by being
right. Amounts are whole cents, times are whole seconds since the epoch.
"""

from collections import Counter, defaultdict
from dataclasses import dataclass, field
from fractions import Fraction

HOUR = 3600


def half_up(amount):
    return int((amount + Fraction(1, 2)) // 1)


@dataclass
class Meter:
    """
    Cents a second as a fraction, from start to end; `stopped` once its bill is closed.
    """

    pace: Fraction
    fee_rate: Fraction
    start: int
    end: int
    billed_until: int
    payee: str
    stopped: bool = False

    def cost(self, until):
        return half_up(self.pace * (until - self.start))

    def to_come(self):
        return 0 if self.stopped else self.cost(self.end) - self.cost(self.billed_until)

    def bill(self, until):
        """
        Bill hour by hour; return what the supplier and the house get.
        """
        supplier = fees = 0
        while self.billed_until < until:
            slot_end = min(until, self.billed_until - self.billed_until % HOUR + HOUR)
            cents = self.cost(slot_end) - self.cost(self.billed_until)
            fee = half_up(cents * self.fee_rate)
            supplier, fees = supplier + cents - fee, fees + fee
            self.billed_until = slot_end
        return supplier, fees


@dataclass
class Hold:
    wallet: "Wallet"
    amount: int
    captured: int = 0
    released: int = 0
    is_open: bool = True
    is_auto: bool = False
    meters: list = field(default_factory=list)

    @property
    def remaining(self):
        return self.amount - self.captured - self.released

    @property
    def running(self):
        return [meter for meter in self.meters if not meter.stopped]

    @property
    def spare(self):
        return self.remaining - sum(meter.to_come() for meter in self.meters)


@dataclass
class Wallet:
    """
    `disputes` are those since it was frozen that were not won, lost ones included.
    """

    currency: str
    available: int = 0
    disputes: int = 0
    undecided: int = 0
    is_frozen: bool = False


class Refused(Exception):
    """
    The rules do not allow it.
    """


@dataclass
class Party:
    """
    What a supplier earned: `shares` by the moment, for the days that they are held.
    """

    earned: int = 0
    paid_out: int = 0
    shares: list = field(default_factory=list)

    @property
    def owed(self):
        return self.earned - self.paid_out

    def earn(self, cents, at):
        self.earned += cents
        self.shares.append((at, cents))

    def pay_out(self, at, held_for):
        recent = sum(cents for moment, cents in self.shares if moment > at - held_for)
        due = max(self.owed - recent, 0)
        self.paid_out += due
        return due


@dataclass
class Books:
    """
    Everybody's money; `fees` is what the house earned, by currency, and `losses` what
    it wrote off. `parties` are kept by name and currency.
    """

    holds: list = field(default_factory=list)
    parties: defaultdict = field(default_factory=lambda: defaultdict(Party))
    fees: Counter = field(default_factory=Counter)
    losses: Counter = field(default_factory=Counter)

    def held(self, wallet):
        return sum(hold.remaining for hold in self.holds if hold.wallet is wallet)

    def spend(self, wallet, cents):
        if wallet.is_frozen or wallet.available < cents:
            raise Refused
        wallet.available -= cents

    def let_go(self, wallet, *, writes_off):
        """
        Let staff decide that a wallet spends again, once the banks have decided.
        """
        debt = max(-wallet.available, 0)
        if wallet.undecided or (debt and not writes_off):
            raise Refused
        wallet.available += debt
        self.losses[wallet.currency] += debt
        wallet.disputes, wallet.is_frozen = 0, False

    def place(self, wallet, cents):
        self.spend(wallet, cents)
        hold = Hold(wallet, cents)
        self.holds.append(hold)
        return hold

    def add(self, hold, cents):
        """
        Set more aside for an open hold.
        """
        if not hold.is_open:
            raise Refused
        self.spend(hold.wallet, cents)
        hold.amount += cents

    def start(self, hold, meter):
        if not hold.is_open or meter.to_come() > hold.spare:
            raise Refused
        hold.meters.append(meter)

    def release(self, hold, cents=None):
        if cents is None:
            if hold.running:
                raise Refused
            cents, hold.is_open = hold.remaining, False
        elif not hold.is_open or cents > hold.spare:
            raise Refused
        hold.released += cents
        hold.wallet.available += cents

    def extend(self, hold, seconds, reserved=0):
        """
        Let what runs run longer; what is `reserved` of the hold does not pay for it.
        """
        if not hold.is_open or not hold.running:
            raise Refused
        longer = sum(
            meter.cost(meter.end + seconds) - meter.cost(meter.end)
            for meter in hold.running
        )
        missing = max(longer + reserved - hold.spare, 0)
        if missing:
            self.add(hold, missing)
        for meter in hold.running:
            meter.end += seconds

    def bill(self, hold, meter, until, *, closes):
        currency = hold.wallet.currency
        before = meter.cost(meter.billed_until)
        while meter.billed_until < until:
            slot_end = min(until, meter.billed_until - meter.billed_until % HOUR + HOUR)
            supplier, fees = meter.bill(slot_end)
            self.parties[meter.payee, currency].earn(supplier, slot_end)
            self.fees[currency] += fees
        hold.captured += meter.cost(meter.billed_until) - before
        meter.stopped = closes

    def stop(self, hold, meter, at):
        if not meter.stopped:
            self.bill(
                hold, meter, max(min(at, meter.end), meter.billed_until), closes=True
            )

    def tick(self, at):
        for hold in self.holds:
            self._extend_automatically(hold, at)
        for hold in self.holds:
            for meter in hold.running:
                until = meter.end if meter.end <= at else at - at % HOUR
                self.bill(
                    hold, meter, max(until, meter.billed_until), closes=meter.end <= at
                )

    def _extend_automatically(self, hold, at):
        while (
            hold.is_auto
            and hold.is_open
            and hold.running
            and min(meter.end for meter in hold.running) <= at + HOUR
        ):
            try:
                self.extend(hold, HOUR)
            except Refused:
                return
