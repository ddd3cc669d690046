"""
The simulator finds faults that are planted on purpose; a green run then means something.
"""

from contextlib import ExitStack
from unittest import mock

import pytest
from django.db import transaction

from billing import ledger, ticks
from billing.services import ends, holds, meters, payments, refunds, wallets
from tests.billing.simulator.test_simulator import run

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.no_cover,  # counting lines would take twice as long
    pytest.mark.usefixtures("broken_books"),
]

SEEDS_TO_TRY = 12


def in_tick(right, wrong):
    assert right in ticks.CHARGE_METERS
    return mock.patch.object(
        ticks, "CHARGE_METERS", ticks.CHARGE_METERS.replace(right, wrong)
    )


def in_due(right, wrong):
    stack = ExitStack()
    for name in ("COUNT_DUE", "LOCK_DUE_METERS"):
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


FAULTS = {
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
}


@pytest.mark.parametrize("fault", FAULTS)
def test_finds(fault):
    with FAULTS[fault]():
        is_found = any(not is_clean(seed) for seed in range(SEEDS_TO_TRY))

    assert is_found, f"{SEEDS_TO_TRY} seeds did not notice."


def is_clean(seed):
    # No atomic block: a tick is one itself, and refuses to be part of another.
    before = transaction.savepoint()
    try:
        run(seed)
    except AssertionError:
        return False
    finally:
        transaction.savepoint_rollback(before)
    return True


def test_without_a_fault_the_same_seeds_are_clean():
    assert all(is_clean(seed) for seed in range(SEEDS_TO_TRY))
