from datetime import UTC, date, datetime, timedelta
from functools import partial

import pytest
from django.db import IntegrityError, transaction

from billing.ledger import Entry, lock_accounts, open_account, post
from billing.models import Account, BankAccount, Payout, Transfer
from billing.services import payouts
from billing.services.payouts import (
    PayoutReturned,
    bank_file_rows,
    earnings,
    mark_payout_paid,
    recent_payouts,
    return_payout,
    run_payouts,
    week_of,
)
from tests.billing.conftest import SUPPLIER, balance_of, usd
from tests.billing.processes import in_threads

MONDAY = datetime(2026, 6, 8, 5, tzinfo=UTC)
NEXT_MONDAY = MONDAY + timedelta(days=7)


@transaction.atomic
def move(amount, at, key, kind=Transfer.Kind.CAPTURE):
    """
    Let the party earn from a correction account, or owe to it when below zero.
    """
    house = open_account(Account.Kind.WRITE_OFFS, "USD")
    own = open_account(Account.Kind.PAYABLE, "USD", SUPPLIER)
    lock_accounts([house, own])
    debit, credit = (house, own) if amount > 0 else (own, house)
    entry = Entry(debit, credit, usd(abs(amount)), kind, "x")
    post([entry], key=key, at=at)


@pytest.fixture
def bank_account(db):
    return BankAccount.objects.create(
        party=SUPPLIER,
        currency="USD",
        holder="EverXCloud GmbH",
        number="DE75512108001245126199",
        bank_code="SOLADEST600",
    )


@pytest.fixture
def earned(bank_account):
    """
    80.00 earned more than a week before MONDAY.
    """
    move(80, MONDAY - timedelta(days=8), "earned")


def due(at=MONDAY):
    (own,) = earnings(at=at)
    return own.balance.amount, own.held.amount, own.payable.amount


# --- what is due


def test_earnings_of_the_last_seven_days_are_held(earned):
    move(5, MONDAY - timedelta(days=7) + timedelta(seconds=1), "later")
    move(7, MONDAY - timedelta(days=7), "earlier")

    assert due() == (92, 5, 87)
    assert due(NEXT_MONDAY) == (92, 0, 92)


def test_debts_are_netted_at_once(earned):
    move(-30, MONDAY, "debt", kind=Transfer.Kind.CORRECTION)

    assert due() == (50, 0, 50)


def test_who_owes_gets_nothing_until_it_is_earned(earned):
    move(-100, MONDAY, "debt", kind=Transfer.Kind.CORRECTION)
    assert due() == (-20, 0, 0)
    assert run_payouts(at=MONDAY) == []

    move(50, MONDAY, "earned again")
    assert due() == (30, 50, 0)
    assert due(NEXT_MONDAY) == (30, 0, 30)


# --- paying out


def test_m66_one_payout_a_week_however_often_it_runs(earned):
    (payout,) = run_payouts(at=MONDAY)
    assert run_payouts(at=MONDAY) == []
    assert run_payouts(at=MONDAY + timedelta(days=3)) == []

    assert (payout.amount, payout.status) == (usd(80), "PENDING")
    assert (payout.holder, payout.number) == (
        "EverXCloud GmbH",
        "DE75512108001245126199",
    )
    assert balance_of("PAYABLE", SUPPLIER) == 0
    assert balance_of("CLEARING", "bank") == 80
    assert Payout.objects.count() == 1


def test_second_run_of_a_week_leaves_new_earnings_to_the_next(earned):
    run_payouts(at=MONDAY)
    move(9, MONDAY - timedelta(days=9), "found")

    assert run_payouts(at=MONDAY + timedelta(days=1)) == []
    assert [p.amount for p in run_payouts(at=NEXT_MONDAY)] == [usd(9)]


@pytest.mark.django_db(transaction=True)
def test_m66_runs_at_once_pay_once(earned):
    runs = in_threads(*[partial(run_payouts, at=MONDAY)] * 4)

    assert sorted(len(run) for run in runs) == [0, 0, 0, 1]
    assert Payout.objects.get().amount == usd(80)


def test_account_that_staff_change_at_this_moment_gets_nothing(
    earned, staff, monkeypatch
):
    def change_meanwhile(*, at):
        found = earnings(at=at)
        BankAccount.objects.update(entered_by=staff)
        return found

    monkeypatch.setattr(payouts, "earnings", change_meanwhile)

    assert run_payouts(at=MONDAY) == []

    assert not Payout.objects.exists()
    assert due() == (80, 0, 80)


def test_without_a_bank_account_nothing_leaves(db):
    move(80, MONDAY - timedelta(days=8), "earned")

    assert run_payouts(at=MONDAY) == []
    (own,) = earnings(at=MONDAY)
    assert (own.has_bank_account, own.payable) == (False, usd(80))


def test_old_file_keeps_the_old_account_number(earned, bank_account):
    run_payouts(at=MONDAY)
    BankAccount.objects.update(number="changed")

    ((holder, number, code, amount, currency, text),) = bank_file_rows(
        currency="USD", week=week_of(MONDAY)
    )

    assert (holder, number, code) == (
        "EverXCloud GmbH",
        "DE75512108001245126199",
        "SOLADEST600",
    )
    assert (amount, currency) == (usd(80), "USD")
    assert text == f"Payout {Payout.objects.get().pk}, week of 2026-06-08"
    assert bank_file_rows(currency="EUR", week=week_of(MONDAY)) == []


def test_paid_payout_is_told_to_the_bank_no_more(earned):
    (payout,) = run_payouts(at=MONDAY)

    for hours in (1, 2):
        mark_payout_paid(payout_id=payout.pk, at=MONDAY + timedelta(hours=hours))

    payout.refresh_from_db()
    assert (payout.status, payout.paid_at) == ("PAID", MONDAY + timedelta(hours=1))
    assert bank_file_rows(currency="USD", week=week_of(MONDAY)) == []
    assert recent_payouts() == [payout]


# --- coming back


@pytest.mark.parametrize("is_paid", [pytest.param(True, id="M68b"), False])
def test_m68b_returned_payout_is_payable_again(earned, is_paid):
    (payout,) = run_payouts(at=MONDAY)
    if is_paid:
        mark_payout_paid(payout_id=payout.pk, at=MONDAY)

    for _ in range(2):
        return_payout(payout_id=payout.pk, reason="Account closed", at=MONDAY)

    payout.refresh_from_db()
    assert (payout.status, payout.reason) == ("RETURNED", "Account closed")
    assert due() == (80, 0, 80)
    assert balance_of("CLEARING", "bank") == 0


def test_m68_rejected_and_paid_again_is_paid_once(earned):
    (first,) = run_payouts(at=MONDAY)
    return_payout(payout_id=first.pk, reason="Rejected", at=MONDAY)

    (second,) = run_payouts(at=MONDAY + timedelta(days=1))
    mark_payout_paid(payout_id=second.pk, at=MONDAY + timedelta(days=2))

    assert balance_of("PAYABLE", SUPPLIER) == 0
    assert balance_of("CLEARING", "bank") == 80
    assert second.amount == usd(80)


def test_returned_payout_is_never_paid(earned):
    (payout,) = run_payouts(at=MONDAY)
    return_payout(payout_id=payout.pk, reason="Rejected", at=MONDAY)

    with pytest.raises(PayoutReturned, match="back already"):
        mark_payout_paid(payout_id=payout.pk, at=MONDAY)


@pytest.mark.parametrize(
    ("at", "monday"),
    [
        (datetime(2026, 6, 8, tzinfo=UTC), date(2026, 6, 8)),
        (datetime(2026, 6, 14, 23, 59, 59, tzinfo=UTC), date(2026, 6, 8)),
        (datetime(2026, 6, 15, tzinfo=UTC), date(2026, 6, 15)),
        (datetime(2027, 1, 1, tzinfo=UTC), date(2026, 12, 28)),
    ],
)
def test_weeks_begin_on_monday(at, monday):
    assert week_of(at) == monday


@pytest.mark.parametrize(
    "change",
    [
        {"amount": 0},
        {"status": "RETURNED"},
        {"status": "PAID"},
        {"returned_at": MONDAY},
        {"currency": "EUR"},
    ],
)
def test_database_refuses_an_impossible_payout(earned, change):
    run_payouts(at=MONDAY)

    with pytest.raises(IntegrityError), transaction.atomic():
        Payout.objects.update(**change)


def test_database_refuses_a_second_payout_a_week(earned):
    (payout,) = run_payouts(at=MONDAY)
    payout.pk = None

    with pytest.raises(IntegrityError, match="one_a_week"), transaction.atomic():
        payout.save()

    assert str(payout) == "EverXCloud GmbH 2026-06-08"
    assert str(BankAccount.objects.get()) == f"{SUPPLIER} USD"
