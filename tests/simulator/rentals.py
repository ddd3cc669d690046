"""
Holds and meters of billing alone, with any rate and end, as no workspace has them.
"""

from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

from djmoney.money import Money

from billing import services
from tests.billing.conftest import SUPPLIER
from tests.simulator import books
from tests.simulator.units import HOUR, moment, money

MONTH_OF_STORAGE = 730 * HOUR
FEE_RATE = Decimal("0.125")


class Rental:
    """
    A hold of the services and its twin in the model, with what runs against both.
    """

    def __init__(self, hold_id, terms, paces, hours, hold):
        self.id = hold_id
        self.terms = terms
        self.paces = paces
        self.hours = hours
        self.hold = hold
        self.meters = []


class Rentals:
    def fund(self, customer=None, hours=None):
        wallet, purse = customer or self.random.choice(self.buyers)
        hours = hours or self.random.choice([1, 3, 8, 24, 60, 500])
        rate = Decimal(self.random.randint(1, 9_999)) / 10_000
        gb = self.random.choice([0, 50, 200])
        terms = [(rate, self.random.choice([1, 2, 4]), HOUR)]
        if gb:
            terms.append((Decimal("0.07"), gb, MONTH_OF_STORAGE))
        seconds = hours * HOUR
        paces = [Fraction(r) * units * 100 / period for r, units, period in terms]
        in_all = max(sum(books.half_up(pace * seconds) for pace in paces), 1)
        reference = self.key("w")
        with self.refused_alike(lambda: self.books.place(purse, in_all)):
            hold = self.attempt(
                services.place_hold,
                user_id=wallet.user_id,
                amount=money(in_all, purse.currency),
                reference=reference,
                key=reference,
                at=moment(self.at),
            )
            twin = self.books.holds[-1]
            self.rentals.append(Rental(hold.id, terms, paces, hours, twin))
            if self.random.random() < 0.7:
                self.start(self.rentals[-1])
        return f"{in_all} for {hours} h"

    def start(self, rental=None):
        rental = rental or self.pick(lambda r: r.hold.is_open and not r.meters)
        if rental is None:
            return None
        # Now and then for an hour more than the hold was made for: that is refused.
        hours = rental.hours + (self.random.random() < 0.25)
        for index in range(len(rental.terms)):
            self.start_part(rental, index, hours)
        return rental.id

    def start_part(self, rental, index, hours):
        rate, units, period = rental.terms[index]
        end = self.at + hours * HOUR
        fee_rate = Fraction(FEE_RATE)
        twin = books.Meter(
            rental.paces[index], fee_rate, self.at, end, self.at, SUPPLIER
        )
        with self.refused_alike(lambda: self.books.start(rental.hold, twin)):
            meter = self.attempt(
                services.start_meter,
                hold_id=rental.id,
                name=f"part {index}",
                rate=Money(rate, rental.hold.wallet.currency),
                units=Decimal(units),
                period_seconds=period,
                payee=SUPPLIER,
                fee_rate=FEE_RATE,
                started_at=moment(self.at),
                ends_at=moment(end),
                key=f"{rental.id}:{index}",
            )
            rental.meters.append((meter.id, twin))

    def stop(self):
        rental = self.pick(lambda r: r.hold.running)
        if rental is None:
            return None
        keeps_data = self.random.random() < 0.3
        for meter_id, twin in rental.meters[: 1 if keeps_data else None]:
            self.books.stop(rental.hold, twin, self.at)
            self.attempt(services.stop_meter, meter_id=meter_id, at=moment(self.at))
        if not rental.hold.running:
            self.end(rental)
        return rental.id

    def cancel(self):
        rental = self.pick(lambda r: r.hold.is_open)
        if rental is None:
            return None
        self.end(rental)
        return rental.id

    def end(self, rental):
        with self.refused_alike(lambda: self.books.release(rental.hold)):
            self.attempt(
                services.release_hold,
                hold_id=rental.id,
                key=f"{rental.id}:end:{self.at}",
                at=moment(self.at),
            )

    def give_some_back(self):
        rental = self.pick(lambda r: r.hold.is_open and r.hold.remaining)
        if rental is None:
            return None
        some = self.random.randint(1, rental.hold.remaining)
        key = self.key("some")
        with self.refused_alike(lambda: self.books.release(rental.hold, some)):
            self.attempt(
                services.release_hold,
                hold_id=rental.id,
                amount=money(some, rental.hold.wallet.currency),
                key=key,
                at=moment(self.at),
            )
        return some

    def extend(self):
        rental = self.pick(lambda r: r.hold.is_open)
        if rental is None:
            return None
        by = self.random.choice([60, HOUR, 24 * HOUR])
        key = self.key("more")
        with self.refused_alike(lambda: self.books.extend(rental.hold, by)):
            self.attempt(
                services.extend_running,
                hold_id=rental.id,
                by=timedelta(seconds=by),
                key=key,
                at=moment(self.at),
            )
        return by

    def switch_auto(self):
        rental = self.pick(lambda r: r.hold.is_open)
        if rental is None:
            return None
        rental.hold.is_auto = not rental.hold.is_auto
        services.set_auto_extend(hold_id=rental.id, is_on=rental.hold.is_auto)
        return rental.hold.is_auto

    def pick(self, condition):
        rentals = [rental for rental in self.rentals if condition(rental)]
        return self.random.choice(rentals) if rentals else None
