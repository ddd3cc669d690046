"""
Many at once, on a real PostgreSQL: threads, processes, and processes that die.

The tests of SQL order in test_ledger.py guard the locks; these show that the whole
holds together.
"""

import signal
from datetime import timedelta
from decimal import Decimal
from functools import partial

import pytest
from django.db import transaction

from billing import ticks
from billing.failpoints import armed
from billing.ledger import Entry, lock_accounts, post, retry_conflicts
from billing.models import Charge, Hold, Meter, Transfer
from billing.services import (
    bill_due,
    expire_holds,
    meter_of,
    open_wallet,
    place_hold,
    release_hold,
    stop_meter,
    wallets_of,
)
from tests.billing.conftest import NOON, balance, make_wallet, usd
from tests.billing.processes import in_threads, start
from tests.billing.test_ledger import lost

pytestmark = pytest.mark.django_db(transaction=True)


def place(wallet, number, amount="7"):
    return place_hold(
        user_id=wallet.user_id,
        amount=usd(amount),
        reference=f"w:{number}",
        key=f"w:{number}",
        at=NOON,
    )


def kinds(answers):
    return sorted(type(answer).__name__ for answer in answers)


def test_m33_r29_threads_hold_exactly_what_the_wallet_covers(wallet, pay_in):
    pay_in("30")

    answers = in_threads(*[partial(place, wallet, n) for n in range(10)])

    assert kinds(answers) == ["HoldInfo"] * 4 + ["InsufficientFunds"] * 6
    (own,) = wallets_of(user_id=wallet.user_id)
    assert (own.available, own.held) == (usd(2), usd(28))


HAMMER = """
from billing.services import InsufficientFunds, place_hold
from datetime import UTC, datetime
from djmoney.money import Money
granted = 0
for number in range(50):
    try:
        place_hold(user_id=user, amount=Money(1, "USD"), reference=f"w:{name}:{number}",
            key=f"w:{name}:{number}", at=datetime(2026, 6, 1, 12, tzinfo=UTC))
        granted += 1
    except InsufficientFunds:
        pass
print(granted)
"""


def test_eight_processes_hold_exactly_what_the_wallet_covers(wallet, pay_in):
    pay_in("123.50")

    workers = [start(HAMMER, user=wallet.user_id, name=n) for n in range(8)]
    outputs = [worker.communicate(timeout=120) for worker in workers]

    assert [errors for _, errors in outputs] == [""] * 8
    assert sum(int(granted) for granted, _ in outputs) == 123
    assert Hold.objects.count() == 123
    assert balance(wallet.available_id) == Decimal("0.50")


def test_same_key_at_once_is_one_hold(wallet, pay_in):
    pay_in("30")

    answers = in_threads(*[partial(place, wallet, 1)] * 6)

    assert answers == [answers[0]] * 6
    assert Hold.objects.count() == 1
    assert balance(wallet.held_id) == 7


def test_m31_opposite_transfers_at_once_all_arrive(wallet, pay_in):
    other = make_wallet("other@example.com")
    pay_in("200")
    pay_in("200", wallet=other)

    @retry_conflicts
    @transaction.atomic
    def give(source, target, key):
        lock_accounts([source.available_id, target.available_id])
        entry = Entry(
            source.available,
            target.available,
            usd(1),
            Transfer.Kind.CORRECTION,
            "give",
        )
        post([entry], key=key, at=NOON)

    def give_fifty(source, target, name):
        for number in range(50):
            give(source, target, f"{name}:{number}")

    answers = in_threads(
        *[partial(give_fifty, wallet, other, f"out{n}") for n in range(4)],
        *[partial(give_fifty, other, wallet, f"back{n}") for n in range(4)],
    )

    assert answers == [None] * 8
    assert Transfer.objects.filter(kind="CORRECTION").count() == 400
    assert balance(wallet.available_id) == balance(other.available_id) == 200


def test_wallet_opened_by_many_at_once_is_one(wallet):
    call = partial(open_wallet, user_id=wallet.user_id, currency="EUR")

    answers = in_threads(*[call] * 6)

    assert kinds(answers) == ["WalletBalance"] * 6
    assert len(wallets_of(user_id=wallet.user_id)) == 2


def test_release_and_expiry_at_once_give_back_once(wallet, pay_in):
    pay_in("7")
    hold = place(wallet, 1)
    later = NOON + timedelta(minutes=15)
    Hold.objects.update(expires_at=later)

    in_threads(
        partial(release_hold, hold_id=hold.id, key="a", at=later),
        partial(release_hold, hold_id=hold.id, key="b", at=later),
        partial(expire_holds, at=later),
        partial(expire_holds, at=later),
    )

    assert Transfer.objects.filter(kind="RELEASE").count() == 1
    assert balance(wallet.available_id) == 7


# --- ticks at once


@pytest.fixture
def many_meters(wallet, pay_in):
    """
    Sixty meters at one dollar an hour on twenty holds.
    """

    def make(run_meter):
        pay_in("600")
        for number in range(20):
            hold = place(wallet, number, "30")
            for _ in range(3):
                run_meter(hold_id=hold.id, ends_at=NOON + timedelta(hours=10))

    return make


def test_m35_workers_at_once_bill_every_hour_once(run_meter, many_meters, monkeypatch):
    many_meters(run_meter)
    monkeypatch.setattr(ticks, "CHARGES_PER_CHUNK", 7)

    answers = in_threads(*[partial(bill_due, at=NOON + timedelta(hours=3))] * 4)

    assert kinds(answers) == ["BillingRun"] * 4
    assert sum(run.charges for run in answers) == 180
    assert all(run.failures == [] for run in answers)
    # A worker steps over what another holds; the next tick takes what was left.
    bill_due(at=NOON + timedelta(hours=3))
    assert Charge.objects.count() == 180
    assert not Meter.objects.exclude(billed_amount=3).exists()


def test_stops_and_ticks_at_once_bill_to_the_second(run_meter, many_meters):
    many_meters(run_meter)
    at = NOON + timedelta(hours=2, minutes=30)
    meters = list(Meter.objects.order_by("-pk").values_list("pk", flat=True)[:8])

    answers = in_threads(
        partial(bill_due, at=at),
        partial(bill_due, at=at),
        *[partial(stop_meter, meter_id=meter, at=at) for meter in meters],
    )

    assert kinds(answers) == ["BillingRun"] * 2 + ["MeterInfo"] * 8
    bill_due(at=at)
    assert {meter_of(meter_id=m).billed_amount for m in meters} == {usd("2.50")}
    assert Meter.objects.filter(billed_amount=2).count() == 52


# --- ticks that die

TICK = """
from billing.services import bill_due
from datetime import datetime
print(bill_due(at=datetime.fromisoformat(at)).charges)
"""


@pytest.mark.parametrize(
    ("failpoint", "left"),
    [
        pytest.param("tick.after_locks", 3, id="before anything"),
        pytest.param("tick.before_commit", 3, id="before the commit"),
        pytest.param("tick.after_commit", 0, id="M36"),
    ],
)
def test_m36_killed_tick_is_finished_by_the_next(run_meter, failpoint, left):
    meter = run_meter()
    at = (NOON + timedelta(hours=3)).isoformat()

    killed = start(TICK, failpoints=f"{failpoint}=kill", at=at)
    killed.communicate(timeout=60)
    assert killed.returncode == -signal.SIGKILL

    again = start(TICK, at=at)
    charges, errors = again.communicate(timeout=60)

    assert (int(charges), errors) == (left, "")
    assert Charge.objects.count() == 3
    assert meter_of(meter_id=meter.id).billed_amount == usd(3)


def test_killed_tick_keeps_its_finished_chunks(run_meter, many_meters, monkeypatch):
    many_meters(run_meter)
    monkeypatch.setattr(ticks, "CHARGES_PER_CHUNK", 20)
    commits = []

    def die_in_the_second_chunk():
        commits.append(1)
        if len(commits) == 2:
            raise KeyboardInterrupt

    monkeypatch.setitem(armed, "tick.before_commit", die_in_the_second_chunk)
    with pytest.raises(KeyboardInterrupt):
        bill_due(at=NOON + timedelta(hours=1))
    assert Charge.objects.count() == 20

    monkeypatch.delitem(armed, "tick.before_commit")
    assert bill_due(at=NOON + timedelta(hours=1)).charges == 40


def test_m32_tick_that_lost_its_locks_tries_again(run_meter, monkeypatch):
    run_meter()
    answers = [lost("40P01"), lost("55P03")]

    def lose_twice():
        if answers:
            raise answers.pop()

    monkeypatch.setitem(armed, "tick.after_locks", lose_twice)

    assert bill_due(at=NOON + timedelta(hours=1)).charges == 1
    assert answers == []


def test_stops_of_all_meters_of_a_hold_never_meet_a_tick_head_on(hold, run_meter):
    meters = [run_meter(ends_at=NOON + timedelta(hours=20)).id for _ in range(4)]
    at = NOON + timedelta(hours=1, minutes=30)

    @transaction.atomic
    def stop(order):
        for meter in order:
            stop_meter(meter_id=meter, at=at)
        release_hold(hold_id=hold.id, key=f"end:{order}", at=at)

    # Not retried: the order of locks has to be right the first time.
    answers = in_threads(
        partial(stop, meters),
        partial(stop, meters[::-1]),
        partial(bill_due, at=at),
        partial(bill_due, at=at),
    )

    assert answers[:2] == [None, None]
    assert Hold.objects.get().captured == usd(6)
