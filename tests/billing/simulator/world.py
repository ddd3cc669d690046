"""
One seed, one run: weeks of the market against a clock and a provider that misbehaves.

Every step does something to the real services and the same to the model, then
compares the two. What is meant to fail has to fail in both. Calls are killed before or
after they commit and made again under their key; ticks are lost, doubled or killed;
the provider's events come late, twice and out of order.
"""

import random
from datetime import UTC, datetime, timedelta

from django.utils import timezone

from billing import services
from billing.gateways import sandbox
from billing.models import BankAccount, Hold, Meter, SandboxDelivery, Wallet
from billing.services.profiles import save_profile
from billing.services.reconciliation import reconcile
from tests.billing.conftest import SUPPLIER, balance_of, make_wallet
from tests.billing.simulator import model
from tests.billing.simulator.machines import Machines
from tests.billing.simulator.people import People
from tests.billing.simulator.units import in_cents, moment

START = int(datetime(2026, 10, 20, 7, tzinfo=UTC).timestamp())


class World(People, Machines):
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.at = START
        self.market = model.Market()
        self.log = []
        self.number = 0
        self.rentals = []
        self.top_ups = {}
        self.customers = []
        for index, country in enumerate(["DE", "US"]):
            wallet = make_wallet(f"renter{index}@example.com")
            save_profile(user_id=wallet.user_id, country=country)
            self.customers.append((wallet, model.Wallet()))
        BankAccount.objects.create(
            party=SUPPLIER, currency="USD", holder="EverXCloud", number="DE75"
        )
        self.week_paid = None
        for customer in self.customers:
            self.top_up(customer, "200.00", "pay")
        while SandboxDelivery.objects.filter(delivered_at=None).exists():
            self.deliver()

    def step(self):
        deeds = {
            self.wait: 8,
            self.deliver: 3,
            self.top_up: 3,
            self.fund: 5,
            self.start: 1,
            self.stop: 2,
            self.extend: 2,
            self.switch_auto: 1,
            self.give_some_back: 1,
            self.cancel: 1,
            self.refund: 1,
            self.dispute: 1,
            self.decide: 1,
            self.pay_suppliers: 1,
        }
        answer = None
        while answer is None:
            (deed,) = self.random.choices([*deeds], weights=[*deeds.values()])
            self.log.append(f"{moment(self.at):%m-%d %H:%M:%S} {deed.__name__}")
            answer = deed()
            self.log.append(f"  {answer}")
        self.compare()

    def close(self):
        """
        Let every event arrive at last, then hold the ledger against the provider's.
        """
        sandbox.settle_due(at=moment(self.at))
        while SandboxDelivery.objects.filter(delivered_at=None).exists():
            self.deliver()
        # The provider's clock, which dates refunds, is the machine's.
        later = max(moment(self.at), timezone.now()) + timedelta(days=2)
        assert reconcile(at=later) == []
        self.compare()

    def compare(self):
        """
        Hold the books against their own rules, and both sides against each other.
        """
        assert services.check_books() == []
        balances = {
            row.pk: (row.available.balance, row.held.balance, row.frozen_at is not None)
            for row in Wallet.objects.select_related("available", "held")
        }
        for wallet, purse in self.customers:
            available, held, is_frozen = balances[wallet.pk]
            assert (in_cents(available), in_cents(held), is_frozen) == (
                purse.available,
                self.market.held(purse),
                purse.is_frozen,
            )
        self.compare_rentals()
        owed = self.market.supplier - self.market.paid_out
        assert in_cents(balance_of("PAYABLE", SUPPLIER)) == owed
        assert in_cents(balance_of("FEES")) == self.market.fees

    def compare_rentals(self):
        holds = {
            row.pk: (
                in_cents(row.amount),
                in_cents(row.captured),
                in_cents(row.released),
                row.status == Hold.Status.OPEN,
            )
            for row in Hold.objects.all()
        }
        meters = {
            row.pk: (row.ends_at, row.billed_until, row.stopped_at is not None)
            for row in Meter.objects.all()
        }
        for rental in self.rentals:
            twin = rental.hold
            assert holds[rental.id] == (
                twin.amount,
                twin.captured,
                twin.released,
                twin.is_open,
            )
            for meter_id, meter in rental.meters:
                end, until = moment(meter.end), moment(meter.billed_until)
                assert meters[meter_id] == (end, until, meter.stopped)
