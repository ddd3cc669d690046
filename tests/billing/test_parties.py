"""
What a supplier sees of its own money. It earned 80.00, 9 days ago, and 5.00 today.
"""

from datetime import UTC, datetime, timedelta

import pytest

from billing.models import BankAccount
from billing.services import (
    bank_accounts_of,
    mark_payout_paid,
    payouts_of,
    run_payouts,
    set_bank_account,
    standings_of,
    statement_of_party,
)
from tests.billing.conftest import SUPPLIER, usd
from tests.billing.test_payouts import move

MONDAY = datetime(2026, 6, 8, 5, tzinfo=UTC)
DAY = timedelta(days=1)
TO_MY_BANK = {
    "party": SUPPLIER,
    "currency": "USD",
    "holder": "EverXCloud GmbH",
    "number": "DE75512108001245126199",
    "bank_code": "SOLADEST600",
}


@pytest.fixture
def earned(db):
    move(80, MONDAY - 9 * DAY, "earned")
    move(5, MONDAY - timedelta(hours=1), "earned later")


def test_shows_what_was_earned_is_held_and_can_leave(earned):
    (own,) = standings_of(party=SUPPLIER, at=MONDAY)

    assert (own.earned, own.balance) == (usd(85), usd(85))
    assert (own.held, own.payable) == (usd(5), usd(80))
    assert (own.on_its_way, own.paid, own.bank_account) == (usd(0), usd(0), None)


def test_a_payout_is_on_its_way_and_then_paid(earned):
    set_bank_account(**TO_MY_BANK)
    (payout,) = run_payouts(at=MONDAY)
    (own,) = standings_of(party=SUPPLIER, at=MONDAY)
    assert (own.balance, own.on_its_way, own.paid) == (usd(5), usd(80), usd(0))

    mark_payout_paid(payout_id=payout.pk, at=MONDAY)

    (own,) = standings_of(party=SUPPLIER, at=MONDAY)
    assert (own.earned, own.on_its_way, own.paid) == (usd(85), usd(0), usd(80))
    assert payouts_of(party=SUPPLIER) == [payout]


def test_r55_what_was_earned_in_error_is_a_debt_against_later_earnings(earned):
    set_bank_account(**TO_MY_BANK)
    run_payouts(at=MONDAY)
    move(-30, MONDAY, "debt", kind="CORRECTION")

    (own,) = standings_of(party=SUPPLIER, at=MONDAY)

    assert (own.balance, own.payable) == (usd(-25), usd(0))


def test_a_statement_begins_and_ends_with_balances_that_add_up(earned):
    set_bank_account(**TO_MY_BANK)
    run_payouts(at=MONDAY)

    found = statement_of_party(
        party=SUPPLIER, currency="USD", from_at=MONDAY - 8 * DAY, to_at=MONDAY + DAY
    )

    assert (found.opening, found.closing) == (usd(80), usd(5))
    assert (found.money_in, found.money_out) == (usd(5), usd(-80))
    assert [(line.kind, line.amount, line.balance) for line in found.lines] == [
        ("CAPTURE", usd(5), usd(85)),
        ("PAYOUT", usd(-80), usd(5)),
    ]
    assert [line.label for line in found.lines] == ["Charge", "Payout"]


def test_another_party_has_nothing_of_it(earned):
    set_bank_account(**TO_MY_BANK)
    run_payouts(at=MONDAY)

    assert standings_of(party="supplier:other", at=MONDAY) == []
    assert payouts_of(party="supplier:other") == []
    assert bank_accounts_of(party="supplier:other") == []
    other = statement_of_party(
        party="supplier:other", currency="USD", from_at=MONDAY - DAY, to_at=MONDAY
    )
    assert (other.opening, other.lines) == (usd(0), [])


def test_a_new_bank_account_takes_the_place_of_the_old_one(db):
    set_bank_account(**TO_MY_BANK)
    set_bank_account(**TO_MY_BANK | {"number": "DE89370400440532013000"})

    row = BankAccount.objects.get()
    assert row.number == "DE89370400440532013000"
