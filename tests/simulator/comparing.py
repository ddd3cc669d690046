"""
After each step: the books' own rules, and the services against the model.
"""

from decimal import Decimal

import psycopg
from django.db import connection

from billing.checks import QUESTIONS
from billing.payment_checks import PAYMENT_QUESTIONS
from tests.simulator.requests import ON_A_NODE
from tests.simulator.units import CURRENCIES, in_cents, moment

# As check_books asks them, all at once.
BOOKS = " UNION ALL ".join(
    f"SELECT $rule${rule}$rule$, id::text, seen::text FROM ({question}) AS it (id, seen)"
    for rule, question in {**QUESTIONS, **PAYMENT_QUESTIONS}.items()
)
WALLETS = """
    SELECT wallet.id, available.balance, held.balance, frozen_at IS NOT NULL
    FROM billing_wallet AS wallet
    JOIN billing_account AS available ON available.id = available_id
    JOIN billing_account AS held ON held.id = held_id
"""
PARTIES = """
    SELECT party, currency, balance FROM billing_account
    WHERE kind IN ('PAYABLE', 'FEES')
"""
LOSSES = """
    SELECT currency, sum(amount) FROM billing_transfer
    WHERE kind = 'WRITE_OFF' GROUP BY currency
"""
HOLDS = "SELECT id, amount, captured, released, status = 'OPEN' FROM billing_hold"
METERS = """
    SELECT id, ends_at, billed_until, stopped_at IS NOT NULL FROM billing_meter
"""
OFFERS = """
    SELECT offer.id, nodes, free_nodes, is_listed, valid_from, hourly_price
    FROM catalog_offer AS offer JOIN catalog_gpumodel AS gpu ON gpu.id = gpu_id
    JOIN catalog_offerprice ON offer_id = offer.id
    WHERE gpu.slug LIKE 'gpu-%'
"""
DRAFTS = "SELECT id, user_id, name, saved_at FROM workspaces_draft"
WORKSPACES = """
    SELECT id, state, offer_id, hourly_amount, limit_price, seconds_left, funded_at,
        kept_until, compute_meter_id, storage_meter_id
    FROM workspaces_workspace
"""
EVENTS = "SELECT workspace_id, state FROM workspaces_workspaceevent ORDER BY id"
MATCHES = """
    SELECT workspace_id, offer_id, hourly_price FROM marketplace_match ORDER BY sequence
"""


def read(question):
    """
    Ask the database past Django, so that it plans each question only once.
    """
    cursor = psycopg.Cursor(connection.connection)
    return cursor.execute(question, prepare=True).fetchall()


class Comparing:
    def compare(self):
        assert read(BOOKS) == []
        self.holds = {pk: hold for pk, *hold in read(HOLDS)}
        self.meters = {pk: meter for pk, *meter in read(METERS)}
        self.compare_wallets()
        self.compare_parties()
        self.compare_rentals()
        self.compare_offers()
        self.compare_workspaces()
        self.compare_events()
        self.compare_matches()
        self.compare_drafts()
        assert self.errors == []

    def compare_wallets(self):
        seen = {
            pk: (in_cents(available), in_cents(held), is_frozen)
            for pk, available, held, is_frozen in read(WALLETS)
        }
        for wallet, purse in self.customers:
            held = self.books.held(purse)
            assert seen[wallet.pk] == (purse.available, held, purse.is_frozen)

    def compare_parties(self):
        seen = {(*party,): in_cents(balance) for *party, balance in read(PARTIES)}
        for currency in CURRENCIES:
            assert seen.pop(("", currency), 0) == self.books.fees[currency]
        # A party's account may be opened before it earns anything.
        expected = {party: self.books.parties[party].owed for party in seen}
        assert seen == expected
        losses = {currency: in_cents(amount) for currency, amount in read(LOSSES)}
        assert losses == +self.books.losses

    def compare_rentals(self):
        for rental in self.rentals:
            self.compare_hold(rental.id, rental.hold)
            for meter_id, twin in rental.meters:
                self.compare_meter(meter_id, twin)

    def compare_hold(self, hold_id, twin):
        *amounts, is_open = self.holds[hold_id]
        expected = [twin.amount, twin.captured, twin.released]
        assert [in_cents(amount) for amount in amounts] == expected
        assert is_open == twin.is_open

    def compare_meter(self, meter_id, twin):
        if twin is None:
            assert meter_id is None
            return
        end, until = moment(twin.end), moment(twin.billed_until)
        assert self.meters[meter_id] == [end, until, twin.stopped]

    def compare_offers(self):
        """
        No node is let twice or lost: what is free is what nobody is on. No price that
        was set is changed, whenever it holds.
        """
        seen = [(*row, ask * 1_000_000) for *row, ask in read(OFFERS)]
        assert sorted(seen) == sorted(
            (
                offer.id,
                offer.nodes,
                offer.free,
                offer.is_listed,
                moment(price.since),
                price.ask,
            )
            for offer in self.market.offers
            for price in offer.prices
        )

    def compare_drafts(self):
        assert {pk: tuple(row) for pk, *row in read(DRAFTS)} == self.drafts

    def compare_workspaces(self):
        rows = {pk: row for pk, *row in read(WORKSPACES)}
        assert len(rows) == len(self.market.requests)
        for request in self.market.requests:
            self.compare_workspace(request, *rows[request.id])

    def compare_workspace(self, request, state, offer, price, limit, left, *rest):
        funded_at, kept_until, compute, storage = rest
        assert state == request.state
        assert funded_at == moment(request.funded_at)
        assert (Decimal(limit) * 1_000_000, left) == (
            request.limit,
            request.seconds_left,
        )
        if request.state in ON_A_NODE:
            assert (offer, price * 1_000_000) == (request.offer.id, request.price)
        if request.state == "STOPPED":
            assert kept_until == moment(request.kept_until)
        self.compare_hold(request.hold_id, request.hold)
        self.compare_meter(compute, request.compute)
        self.compare_meter(storage, request.storage)

    def compare_events(self):
        """
        Every move was written down, once, and was one of those that the model made.
        """
        seen = {request.id: [] for request in self.market.requests}
        for workspace_id, state in read(EVENTS):
            if seen[workspace_id][-1:] != [state]:
                seen[workspace_id].append(state)
        expected = {request.id: request.states for request in self.market.requests}
        assert seen == expected

    def compare_matches(self):
        """
        Who got which node at which ask, in the order in which the rule decides it.
        """
        seen = [(who, offer, ask * 1_000_000) for who, offer, ask in read(MATCHES)]
        assert seen == [
            (request.id, offer.id, ask) for request, offer, ask in self.market.matches
        ]
