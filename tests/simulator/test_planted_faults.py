"""
The simulator finds faults that are planted on purpose; a green run then means something.

Without a fault the same seeds are clean, or `test_simulator.py` fails.
"""

from contextlib import ExitStack
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from unittest import mock

import pytest
from django.db.models import F
from django.db.models.functions import Greatest

from billing import ledger, ticks
from billing.services import ends, freezes, holds, meters, payments, refunds, wallets
from catalog import services as catalog
from catalog.models import Offer
from catalog.services import prices
from marketplace import book, matching
from tests.simulator.playing import is_clean
from tests.simulator.world import plays_market
from workspaces import services as workspaces
from workspaces.models import Draft
from workspaces.provisioners import simulated
from workspaces.services import (
    failing,
    giving_back,
    quotes,
    starting,
    stopping,
    sweeps,
)
from workspaces.states import State

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.no_cover,  # counting lines would take twice as long
]

SEEDS_TO_TRY = range(40)


def in_tick(right, wrong):
    assert right in ticks.CHARGE_METERS
    return mock.patch.object(
        ticks, "CHARGE_METERS", ticks.CHARGE_METERS.replace(right, wrong)
    )


def in_due(right, wrong):
    stack = ExitStack()
    for name in ("LOOK_AT_DUE", "LOCK_DUE_METERS"):
        sql = getattr(ticks, name)
        assert right in sql
        stack.enter_context(mock.patch.object(ticks, name, sql.replace(right, wrong)))
    return stack


def every_key_is_new(*, verb, key, content):
    row = ledger.UsedKey.objects.create(
        verb=verb, key=f"{key}:{ledger.UsedKey.objects.count()}", content={}
    )
    return ledger.Claim(row, is_new=True)


def no_key_is_kept():
    stack = ExitStack()
    for module in (holds, meters, ends):
        stack.enter_context(mock.patch.object(module, "claim_key", every_key_is_new))
    return stack


def frozen_wallets_spend():
    def require_free(wallet, amount):
        if wallet.available.balance < amount:
            raise wallets.InsufficientFunds(
                needed=amount, free=wallet.available.balance
            )

    stack = ExitStack()
    for module in (holds, ends, refunds):
        stack.enter_context(mock.patch.object(module, "require_free", require_free))
    return stack


def payments_count_twice():
    right = payments.record_payment

    def record_payment(*, payment_id, **arguments):
        right(payment_id=payment_id, **arguments)
        right(payment_id=f"{payment_id}:again", **arguments)

    return mock.patch.object(payments, "record_payment", record_payment)


def banks_are_not_waited_for():
    never = mock.PropertyMock(return_value=False)
    return mock.patch.object(freezes.FrozenWallet, "is_undecided", never)


MONEY_FAULTS = {
    "cents are cut off, not rounded": lambda: in_tick(
        "div(pace * extract(epoch FROM until - started_at) + period_seconds, divisor)",
        "div(pace * extract(epoch FROM until - started_at), divisor)",
    ),
    "hours are rounded one by one": lambda: in_tick(
        "div(pace * extract(epoch FROM until - started_at) + period_seconds, divisor)",
        "(cents_before + div(pace * extract(epoch FROM until - billed_until)"
        " + period_seconds, divisor))",
    ),
    "the fee is cut off": lambda: in_tick(
        "round(amount * fee_rate, 2)", "trunc(amount * fee_rate, 2)"
    ),
    "begun hours are billed in full": lambda: in_tick(
        "ELSE %(until)s END", "ELSE %(until)s + interval '1 hour' END"
    ),
    "ends are forgotten": lambda: in_tick(
        "CASE WHEN meter.ends_at <= %(at)s THEN meter.ends_at ELSE %(until)s END",
        "%(until)s",
    ),
    "the last hour waits for the next": lambda: in_due(
        "ends_at <= %(at)s OR billed_until < %(until)s",
        "billed_until < %(until)s - interval '1 hour'",
    ),
    "the hold is not told what was captured": lambda: in_tick(
        "SET captured = hold.captured + total.amount", "SET captured = hold.captured"
    ),
    "no key is kept": no_key_is_kept,
    "whoever asks gets the money": lambda: mock.patch.object(holds, "require_free"),
    "a frozen wallet spends": frozen_wallets_spend,
    "meters may outrun their hold": lambda: mock.patch.object(meters, "_require_cover"),
    "holds are given back under running meters": lambda: mock.patch.object(
        holds, "committed_of", lambda hold: hold.amount * 0
    ),
    "a payment is credited twice": payments_count_twice,
    "a wallet is let go before the bank has decided": banks_are_not_waited_for,
}


def with_arguments(module, name, **changes):
    right = getattr(module, name)

    def wrong(*arguments, **named):
        return right(*arguments, **{**named, **changes})

    return mock.patch.object(module, name, wrong)


def one_node_for_two():
    def take_node(*, offer_id, at):
        free = Greatest(0, F("free_nodes") - 1)
        Offer.objects.filter(pk=offer_id).update(free_nodes=free, free_changed_at=at)

    stack = ExitStack()
    stack.enter_context(mock.patch.object(matching.Lane, "take"))
    stack.enter_context(mock.patch.object(catalog, "take_node", take_node))
    return stack


def no_limits():
    right = book.bids_of

    def bids_of(**which):
        return [replace(bid, limit=Decimal("Infinity")) for bid in right(**which)]

    return mock.patch.object(book, "bids_of", bids_of)


def last_in_the_queue():
    right = stopping.record_move

    def record_move(workspace, to, *, at, **changes):
        if to == State.QUEUED:
            changes["funded_at"] = at
        return right(workspace, to, at=at, **changes)

    return mock.patch.object(stopping, "record_move", record_move)


def rates_are_turned_round():
    right = quotes._rates_into

    def rates_into(currency, *, at):
        rates, as_of = right(currency, at=at)
        return {code: str(1 / Decimal(rate)) for code, rate in rates.items()}, as_of

    return mock.patch.object(quotes, "_rates_into", rates_into)


def drafts_belong_to_all():
    right = workspaces.save_draft

    def save_draft(*, user, draft_id, **told):
        earlier = Draft.objects.filter(pk=draft_id).first()
        user = earlier.user if earlier else user
        return right(user=user, draft_id=draft_id, **told)

    return mock.patch.object(workspaces, "save_draft", save_draft)


def prices_hold_at_once():
    right = prices.add_version

    def add_version(*arguments, at, **told):
        return right(*arguments, at=at, **{**told, "valid_from": at})

    return mock.patch.object(prices, "add_version", add_version)


MARKET_FAULTS = {
    "a node is let twice": one_node_for_two,
    "who bids most has no precedence": lambda: mock.patch.object(
        matching, "_turn", lambda bid: (bid.funded_at, bid.key)
    ),
    "asks are not sorted": lambda: mock.patch.object(
        matching, "sorted", lambda items, key: list(items), create=True
    ),
    "a limit is not looked at": no_limits,
    "a match keeps what the limit held too much": lambda: mock.patch.object(
        starting, "release_above", return_value=0
    ),
    "a broken hour is billed": lambda: with_arguments(
        stopping, "switch_meters", is_broken_hour_free=False
    ),
    "whoever is interrupted waits behind all others": last_in_the_queue,
    "after an interruption the limit does not count": lambda: mock.patch.object(
        stopping, "hold_again", return_value=(0, {})
    ),
    "a node that did not start is lost": lambda: mock.patch.object(
        failing, "free_node"
    ),
    "a withdrawn node is let again": lambda: with_arguments(
        stopping, "free_node", is_withdrawn=False
    ),
    "a node is returned twice": lambda: mock.patch.object(
        giving_back.catalog,
        "return_node",
        lambda *, offer_id, at: Offer.objects.filter(pk=offer_id).update(
            free_nodes=F("nodes")
        ),
    ),
    "what a disputed wallet pays for runs on": lambda: mock.patch.object(
        sweeps.billing, "references_to_stop", return_value=[]
    ),
    "a rate is turned round": rates_are_turned_round,
    "a draft of somebody else is written over": drafts_belong_to_all,
    "a price for later holds at once": prices_hold_at_once,
    "a simulated machine takes no time": lambda: mock.patch.object(
        simulated, "_takes", return_value=timedelta()
    ),
    "a simulated machine never fails": lambda: mock.patch.object(
        sweeps, "Failed", type(None)
    ),
}
FAULTS = MONEY_FAULTS | MARKET_FAULTS
# What has to happen for it, and would take many seeds to happen by itself.
OFTEN = {
    "the last hour waits for the next": ["start", "wait"],
    "a frozen wallet spends": ["dispute", "fund"],
    "a withdrawn node is let again": ["answer_starts", "break_off", "beat"],
    "a node is returned twice": ["answer_starts", "break_off", "beat"],
    "a simulated machine never fails": ["ask", "wait"],
    "a wallet is let go before the bank has decided": ["dispute", "let_go"],
    "what a disputed wallet pays for runs on": ["dispute", "beat"],
    "a draft of somebody else is written over": ["put_aside"],
    "a price for later holds at once": ["schedule_price"],
}


@pytest.mark.parametrize("fault", FAULTS)
def test_finds(fault, stage):
    # Those first that are about what is broken.
    is_market = fault in MARKET_FAULTS
    seeds = sorted(SEEDS_TO_TRY, key=lambda seed: plays_market(seed) != is_market)

    with FAULTS[fault]():
        often = OFTEN.get(fault, ())
        is_found = any(not is_clean(seed, stage, often) for seed in seeds)

    assert is_found, "No seed noticed."
