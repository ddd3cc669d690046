"""
What customers and staff do, each once to the services and once to the model.
"""

from contextlib import contextmanager
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

from django.db import transaction
from djmoney.money import Money

from billing import services
from billing.gateways import sandbox
from billing.models import SandboxPayment, TopUp
from billing.services import disputes, payouts, refunds, top_ups
from tests.billing.conftest import SUPPLIER
from tests.billing.simulator import model
from tests.billing.simulator.units import DAY, HOUR, in_cents, moment, usd

MONTH_OF_STORAGE = 730 * HOUR
FEE_RATE = Decimal("0.125")
AMOUNTS = ["5.00", "31.17", "100.00"]
WAYS = ["pay", "pay", "pay", "decline", "later", "fail later"]
REFUSALS = (
    services.HoldEnded,
    services.HoldInUse,
    services.HoldTooSmall,
    services.InsufficientFunds,
    services.MeterEnded,
    services.WalletFrozen,
    refunds.RefundRefused,
)


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


class People:
    def key(self, name):
        self.number += 1
        return f"{name}:{self.number}"

    def attempt(self, verb, **arguments):
        """
        Call the verb, which may die before or after its commit and is then called again.
        """
        fate = self.random.random()
        if fate < 0.15:
            with transaction.atomic():
                verb(**arguments)
                # As if the process had died: nothing of it is left.
                transaction.set_rollback(True)
            self.log.append("killed before the commit")
        answer = verb(**arguments)
        if fate > 0.85:
            assert verb(**arguments) == answer, "The same key gave another answer."
        return answer

    @contextmanager
    def refused_alike(self, rule):
        """
        Do the block only if the rule lets the model do its part, else see it refused.
        """
        try:
            rule()
        except model.Refused:
            try:
                with transaction.atomic():
                    yield
            except REFUSALS:
                return
            raise AssertionError(
                "The services allowed what the model refuses."
            ) from None
        yield

    def top_up(self, customer=None, amount=None, way=None):
        wallet, _ = customer or self.random.choice(self.customers)
        net = Money(amount or self.random.choice(AMOUNTS), "USD")
        try:
            quote = top_ups.start_top_up(
                user_id=wallet.user_id,
                net=net,
                email="renter@example.com",
                language="en",
                at=moment(self.at),
            )
        except top_ups.TopUpRefused:
            return None
        started = top_ups.confirm_top_up(top_up_id=quote.pk, at=moment(self.at))
        payment = SandboxPayment.objects.get(client_reference=str(started.uuid))
        way = self.random.choice(
            ["pay", "pay", "pay", "decline", "later", "fail later"]
        )
        self.pay_at_provider(payment.reference, way)
        self.top_ups[started.pk] = False
        return f"{net.amount} {way}"

    def pay_at_provider(self, reference, way):
        at = moment(self.at)
        if way == "pay":
            sandbox.pay(reference=reference, at=at)
        elif way == "decline":
            sandbox.decline(reference=reference, at=at)
        else:
            is_to_fail = way == "fail later"
            sandbox.pay_later(reference=reference, is_to_fail=is_to_fail, at=at)

    def fund(self, customer=None):
        wallet, purse = customer or self.random.choice(self.customers)
        hours = self.random.choice([1, 3, 8, 24, 60, 500])
        rate = Decimal(self.random.randint(1, 9_999)) / 10_000
        gb = self.random.choice([0, 50, 200])
        terms = [(rate, self.random.choice([1, 2, 4]), HOUR)]
        if gb:
            terms.append((Decimal("0.07"), gb, MONTH_OF_STORAGE))
        seconds = hours * HOUR
        paces = [Fraction(r) * units * 100 / period for r, units, period in terms]
        in_all = max(sum(model.half_up(pace * seconds) for pace in paces), 1)
        reference = self.key("w")
        with self.refused_alike(lambda: self.market.place(purse, in_all)):
            hold = self.attempt(
                services.place_hold,
                user_id=wallet.user_id,
                amount=usd(in_all),
                reference=reference,
                key=reference,
                at=moment(self.at),
            )
            twin = self.market.holds[-1]
            self.rentals.append(Rental(hold.id, terms, paces, hours, twin))
            if self.random.random() < 0.7:
                self.start(self.rentals[-1])
        return f"{in_all} for {hours} h"

    def start(self, rental=None):
        rental = rental or self.pick(lambda r: r.hold.is_open and not r.meters)
        if rental is None:
            return None
        # Now and then for an hour more than the hold was made for: that is refused.
        hours = rental.hours + (self.random.random() < 0.1)
        for index in range(len(rental.terms)):
            self.start_part(rental, index, hours)
        return rental.id

    def start_part(self, rental, index, hours):
        rate, units, period = rental.terms[index]
        end = self.at + hours * HOUR
        fee_rate = Fraction(FEE_RATE)
        twin = model.Meter(rental.paces[index], fee_rate, self.at, end, self.at)
        with self.refused_alike(lambda: self.market.start(rental.hold, twin)):
            meter = self.attempt(
                services.start_meter,
                hold_id=rental.id,
                name=f"part {index}",
                rate=Money(rate, "USD"),
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
            self.market.stop(rental.hold, twin, self.at)
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
        with self.refused_alike(lambda: self.market.release(rental.hold)):
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
        with self.refused_alike(lambda: self.market.release(rental.hold, some)):
            self.attempt(
                services.release_hold,
                hold_id=rental.id,
                amount=usd(some),
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
        with self.refused_alike(lambda: self.market.extend(rental.hold, by)):
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

    def refund(self):
        top_up, purse = self.paid_top_up()
        if top_up is None:
            return None
        net = self.random.randint(1, in_cents(top_up.net))

        def rule():
            if net > in_cents(top_up.refundable_net):
                raise model.Refused
            self.market.spend(purse, net)

        key = self.key("refund")
        with self.refused_alike(rule):
            self.attempt(
                refunds.refund_payment,
                top_up_id=top_up.pk,
                net=usd(net),
                key=key,
                at=moment(self.at),
            )
        return net

    def dispute(self):
        top_up, purse = self.paid_top_up(refunded=0)
        if top_up is None:
            return None
        reference = top_up.payment_id.removeprefix("pi_")
        self.report(sandbox.dispute(reference=reference, at=moment(self.at)))
        if not purse.disputes:
            purse.is_frozen = True
        purse.disputes += 1
        purse.available -= in_cents(top_up.net)
        # Whoever is frozen tries to spend what is left.
        self.fund(next(c for c in self.customers if c[1] is purse))
        return top_up.pk

    def decide(self):
        rows = disputes.Dispute.objects.filter(status="OPEN").select_related("top_up")
        if not rows:
            return None
        row = self.random.choice(rows.order_by("pk"))
        is_won = self.random.random() < 0.6
        reference = row.top_up.payment_id.removeprefix("pi_")
        at = moment(self.at)
        self.report(sandbox.decide_dispute(reference=reference, is_won=is_won, at=at))
        if is_won:
            purse = self.purse_of(row.top_up)
            purse.disputes -= 1
            purse.available += in_cents(row.net)
            if not purse.disputes and purse.available >= 0:
                purse.is_frozen = False
        return is_won

    def pay_suppliers(self):
        week = payouts.week_of(moment(self.at))
        for _ in range(self.random.choice([1, 2])):
            payouts.run_payouts(at=moment(self.at))
        if week != self.week_paid and self.market.pay_out(self.at, 7 * DAY):
            self.week_paid = week
        return week

    def pick(self, condition):
        rentals = [rental for rental in self.rentals if condition(rental)]
        return self.random.choice(rentals) if rentals else None

    def paid_top_up(self, **conditions):
        rows = TopUp.objects.filter(status="PAID").order_by("pk")
        if "refunded" in conditions:
            rows = rows.filter(refunded_net=0, disputes=None).exclude(charge_id="")
        if not rows:
            return None, None
        top_up = self.random.choice(rows.select_related("wallet"))
        return top_up, self.purse_of(top_up)

    def purse_of(self, top_up):
        return next(
            purse for wallet, purse in self.customers if wallet.pk == top_up.wallet_id
        )

    def report(self, payment):
        self.send(payment.deliveries.latest("pk"))
