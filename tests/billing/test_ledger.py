import re
from datetime import timedelta
from decimal import Decimal

import psycopg
import pytest
from django.db import OperationalError, connection, transaction
from django.test.utils import CaptureQueriesContext

from billing import ledger, ticks
from billing.ledger import (
    Busy,
    Entry,
    KeyReused,
    NotWholeCents,
    claim_key,
    lock_accounts,
    post,
    retry_conflicts,
)
from billing.models import Account, Transfer, UsedKey
from billing.services import (
    InsufficientFunds,
    bill_due,
    capture_hold,
    extend_hold,
    place_hold,
    release_hold,
    stop_meter,
)
from tests.billing.conftest import NOON, SUPPLIER, balance, usd


def lost(sqlstate):
    """
    Return the error that Django raises for this answer of PostgreSQL.
    """
    error = OperationalError("lost")
    error.__cause__ = psycopg.errors.lookup(sqlstate)()
    return error


@pytest.fixture
def no_pause(monkeypatch):
    monkeypatch.setattr(ledger, "LONGEST_PAUSE_SECONDS", 0)


# --- keys


def claim(**changes):
    content = {"amount": usd("10.00"), "rate": Decimal("0.10"), "at": NOON} | changes
    return claim_key(verb="test", key="1", content=content)


@pytest.mark.django_db
def test_key_is_new_once():
    first = claim()
    first.settle(7)

    again = claim(amount=usd("10"), rate=Decimal("0.1"))

    assert (first.is_new, again.is_new) == (True, False)
    assert again.result == 7


@pytest.mark.django_db
@pytest.mark.parametrize(
    "change",
    [
        {"amount": usd("10.01")},
        {"amount": usd("10") * 0},
        {"rate": Decimal("0.2")},
        {"at": NOON + timedelta(seconds=1)},
        {"more": 1},
    ],
)
def test_key_with_other_content_is_refused(change):
    claim()

    with pytest.raises(KeyReused) as refusal:
        claim(**change)

    assert (refusal.value.verb, refusal.value.key) == ("test", "1")
    assert "other details" in str(refusal.value)


@pytest.mark.django_db
def test_verbs_do_not_share_keys():
    claim_key(verb="a", key="1", content={"x": 1})

    assert claim_key(verb="b", key="1", content={"x": 2}).is_new


def test_failed_verb_gives_its_key_back(wallet, pay_in):
    order = {
        "user_id": wallet.user_id,
        "amount": usd(5),
        "reference": "w:1",
        "key": "w:1",
        "at": NOON,
    }
    with pytest.raises(InsufficientFunds):
        place_hold(**order)
    assert not UsedKey.objects.exists()

    pay_in("5")

    assert place_hold(**order).amount == usd(5)


# --- postings


@transaction.atomic
def move(wallet, amount, key="1"):
    lock_accounts([wallet.available_id, wallet.held_id])
    entry = Entry(
        wallet.available, wallet.held, amount, Transfer.Kind.CORRECTION, "move"
    )
    back = Entry(
        wallet.held, wallet.available, amount, Transfer.Kind.CORRECTION, "back"
    )
    return post([entry, back], key=key, at=NOON, reference="test")


def test_transfers_of_one_verb_share_a_group(wallet, pay_in):
    pay_in("10")

    first, second = move(wallet, usd("3.50"))

    assert first.group == second.group
    assert (first.key, second.key) == ("1/move", "1/back")
    stored = Transfer.objects.get(pk=first.pk)
    assert stored.amount == usd("3.50")
    assert (stored.reference, stored.happened_at) == ("test", NOON)
    assert stored.recorded_at is not None


def test_zero_posts_nothing(wallet):
    assert move(wallet, usd(0)) == []
    assert not Transfer.objects.exists()


@pytest.mark.parametrize("amount", ["0.001", "-1", "9.999"])
def test_refuses_other_than_whole_cents(wallet, pay_in, amount):
    pay_in("10")

    with pytest.raises(NotWholeCents):
        move(wallet, usd(amount))

    assert Transfer.objects.count() == 1
    assert balance(wallet.available_id) == 10


# --- locks


def statements(run):
    with CaptureQueriesContext(connection) as queries:
        run()
    return [query["sql"] for query in queries]


def first(sqls, *parts):
    return next(i for i, sql in enumerate(sqls) if all(part in sql for part in parts))


def test_m31_accounts_are_locked_by_ascending_id(wallet):
    accounts = [wallet.held, wallet.available_id, wallet.held_id]

    sqls = statements(lambda: lock_accounts(accounts))

    assert len(sqls) == 1
    assert 'ORDER BY "billing_account"."id" ASC FOR NO KEY UPDATE' in sqls[0]


def test_m26_hold_is_placed_on_the_locked_balance(wallet, pay_in):
    pay_in("10")

    sqls = statements(
        lambda: place_hold(
            user_id=wallet.user_id, amount=usd(4), reference="w:1", key="w:1", at=NOON
        )
    )

    lock = first(sqls, "billing_account", "FOR NO KEY UPDATE")
    reads = [i for i, sql in enumerate(sqls) if "balance" in sql]
    assert min(reads) == lock
    assert lock < first(sqls, "INSERT INTO", "billing_transfer")


@pytest.mark.parametrize("verb", ["release", "capture", "extend", "stop", "tick"])
def test_locks_meters_then_holds_then_accounts(hold, run_meter, verb, pay_in):
    pay_in("1")
    meter = run_meter()
    later = NOON + timedelta(hours=1)
    run = {
        "release": lambda: release_hold(
            hold_id=hold.id, amount=usd(1), key="r", at=later
        ),
        "capture": lambda: capture_hold(
            hold_id=hold.id,
            amount=usd(1),
            payee=SUPPLIER,
            fee_rate=Decimal(0),
            key="c",
            at=later,
        ),
        "extend": lambda: extend_hold(
            hold_id=hold.id, amount=usd(1), key="e", at=later
        ),
        "stop": lambda: stop_meter(meter_id=meter.id, at=later),
        "tick": lambda: bill_due(at=later),
    }[verb]

    locks = [
        re.search(r'FROM "?billing_(\w+)', sql)[1]
        for sql in statements(run)
        if "FOR NO KEY UPDATE" in sql
    ]

    assert locks == ["meter", "hold", "account"]


def test_stopping_one_meter_locks_the_others_of_its_hold(run_meter):
    first, second = run_meter(), run_meter()

    with transaction.atomic():
        stop_meter(meter_id=first.id, at=NOON)
        sqls = statements(lambda: stop_meter(meter_id=second.id, at=NOON))
        (locked,) = [
            sql for sql in sqls if "billing_meter" in sql and "FOR NO KEY" in sql
        ]

    assert "OR" in locked
    assert 'ORDER BY "billing_meter"."id" ASC FOR NO KEY UPDATE' in locked


def test_tick_locks_in_the_order_of_ids(run_meter):
    run_meter()

    sqls = statements(lambda: bill_due(at=NOON + timedelta(hours=1)))

    locks = [" ".join(sql.split()) for sql in sqls if "FOR NO KEY UPDATE" in sql]
    assert f"LIMIT {ticks.CHARGES_PER_CHUNK} FOR NO KEY UPDATE SKIP LOCKED" in locks[0]
    assert "ORDER BY hold.id FOR NO KEY UPDATE OF hold" in locks[1]
    assert "ORDER BY id FOR NO KEY UPDATE" in locks[2]


# --- retries


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("sqlstate", ["40001", "40P01", "55P03"])
def test_m32_lost_race_is_tried_again(wallet, pay_in, no_pause, monkeypatch, sqlstate):
    pay_in("100")
    answers = [lost(sqlstate), None]

    def lock_once_lost(accounts):
        if error := answers.pop(0):
            raise error
        return lock_accounts(accounts)

    monkeypatch.setattr("billing.services.wallets.lock_accounts", lock_once_lost)

    place_hold(
        user_id=wallet.user_id, amount=usd(1), reference="w:1", key="w:1", at=NOON
    )

    assert balance(wallet.available_id) == 99
    assert answers == []


@pytest.mark.django_db(transaction=True)
def test_m32_losing_every_time_is_busy_not_poor(wallet, pay_in, no_pause, monkeypatch):
    pay_in("100")

    def lock_lost(accounts):
        raise lost("55P03")

    monkeypatch.setattr("billing.services.wallets.lock_accounts", lock_lost)

    with pytest.raises(Busy, match="try again"):
        place_hold(
            user_id=wallet.user_id, amount=usd(1), reference="w:1", key="w:1", at=NOON
        )

    assert balance(wallet.available_id) == 100
    assert not UsedKey.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_other_errors_are_not_tried_again(no_pause):
    calls = []

    @retry_conflicts
    def fail():
        calls.append(1)
        raise lost("57014")

    with pytest.raises(OperationalError):
        fail()

    assert len(calls) == 1


@pytest.mark.django_db
def test_inside_a_transaction_the_error_passes_through():
    calls = []

    @retry_conflicts
    def fail():
        calls.append(1)
        raise lost("40001")

    with pytest.raises(OperationalError):
        fail()

    assert len(calls) == 1


@pytest.mark.django_db
def test_account_is_opened_once():
    first = ledger.open_account(Account.Kind.FEES, "USD")

    assert ledger.open_account(Account.Kind.FEES, "USD") == first
    assert ledger.open_account(Account.Kind.FEES, "EUR") != first
    assert str(first) == "FEES  USD"
