"""
One seed, one run: weeks of the market against a clock and a provider that misbehave.

Every step does something to the real services and the same to the model, then
compares the two. What is meant to fail has to fail in both. Calls are killed before or
after they commit and made again; what beat wakes up is lost, doubled or killed at any
statement; the provider's events come late, twice and out of order.
"""

import random
from datetime import timedelta

from django.utils import timezone

from billing import services
from billing.gateways import sandbox
from billing.models import SandboxDelivery
from billing.services.reconciliation import reconcile
from tests.simulator.books import Books, Wallet
from tests.simulator.calls import Calls
from tests.simulator.comparing import Comparing
from tests.simulator.machines import Machines
from tests.simulator.market import Market
from tests.simulator.people import People
from tests.simulator.rentals import Rentals
from tests.simulator.renters import Renters
from tests.simulator.stage import START
from tests.simulator.suppliers import Suppliers
from tests.simulator.units import moment

# How often a deed is done, among all that can be done.
MONEY = {
    "wait": 8,
    "deliver": 3,
    "top_up": 3,
    "refund": 1,
    "dispute": 1,
    "decide": 1,
    "let_go": 1,
    "pay_suppliers": 1,
    "return_payout": 0.3,
}
RENTALS = {
    "fund": 5,
    "start": 1,
    "stop": 2,
    "cancel": 0.5,
    "give_some_back": 1,
    "extend": 2,
    "switch_auto": 1,
}
MARKET = {
    "wait": 8,
    "ask": 9,
    "give_up": 0.5,
    "stop_workspace": 1.5,
    "go_on": 3,
    "not_go_on": 0.5,
    "extend_workspace": 1.5,
    "extend_by_itself": 1,
    "delete_data": 0.3,
    "open_or_pause": 12,
    "change_offer": 1.5,
    "take_off_or_put_on": 0.7,
    "list_more": 0.3,
    "answer_starts": 8,
    "break_off": 3,
    "beat": 8,
    "top_up": 0.5,
    "deliver": 0.5,
    "dispute": 0.4,
    "decide": 0.7,
    "let_go": 0.7,
    "schedule_price": 1.5,
    "put_aside": 0.5,
    "pay_suppliers": 0.7,
    "return_payout": 0.3,
}
# What a seed may leave out, or do more often.
FACTORS = [0, 1, 1, 3]
OFTEN = 10
# So many ask before anything else happens, for nodes that do not suffice.
WAIT_FOR_THE_OPENING = 5
ALWAYS = {
    "wait",
    "deliver",
    "dispute",
    "ask",
    "fund",
    "open_or_pause",
    "answer_starts",
}


def plays_market(seed):
    """
    Return whether a seed is about workspaces; the others are about holds alone.
    """
    return seed % 5 < 3


class World(Calls, People, Rentals, Renters, Suppliers, Machines, Comparing):
    def __init__(self, seed, stage, often=()):
        self.seed, self.often = seed, often
        self.random = random.Random(seed)
        self.stage = stage
        self.at = START
        self.books = Books()
        self.market = Market(offers=stage.fresh_offers())
        self.customers = [
            (wallet, Wallet(wallet.currency, available=200_00))
            for wallet in stage.wallets
        ]
        # So few that they stand in each other's way.
        self.buyers = self.random.sample(self.customers, 2)
        self.top_ups = {top_up.pk: True for top_up in stage.top_ups}
        self.rentals = []
        # Whose they are, what they are called, and when they were saved.
        self.drafts = {}
        self.weeks_paid = {}
        self.number = 0
        self.log, self.errors = [], []
        self.weights = self.draw_weights()

    def draw_weights(self):
        """
        Let each seed do some things often and leave others out, unless it is told.
        """
        deeds = MARKET if plays_market(self.seed) else MONEY | RENTALS
        weights = {
            name: weight * (1 if name in ALWAYS else self.random.choice(FACTORS))
            for name, weight in deeds.items()
        }
        return weights | {name: OFTEN for name in self.often if name in deeds}

    def step(self):
        self.at += self.random.randint(1, 120)
        answer = None
        while answer is None:
            name = self.draw_deed()
            self.log.append(f"{moment(self.at):%m-%d %H:%M:%S} {name}")
            answer = getattr(self, name)()
            self.log.append(f"  {answer}")
        self.compare()

    def draw_deed(self):
        if plays_market(self.seed) and len(self.log) < 2 * WAIT_FOR_THE_OPENING:
            return "ask"
        names, weights = [*self.weights], [*self.weights.values()]
        return self.random.choices(names, weights)[0]

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
        assert services.check_books() == []
