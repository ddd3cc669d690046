"""
Every rule of the books finds what breaks it, and the command says so.
"""

from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection

from billing.checks import QUESTIONS
from billing.models import BankAccount
from billing.services import Fault, bill_due, check_books
from billing.services.payouts import run_payouts
from tests.billing.conftest import NOON, SUPPLIER
from tests.ledger_flush import switch_triggers

CONSTRAINTS_OFF = {
    "billing_account": ["account_customer_balance_not_negative"],
    "billing_wallet": [],
    "billing_hold": ["hold_covers_its_parts", "hold_ended_leaves_nothing"],
    "billing_meter": ["meter_billed_within_its_time", "meter_stopped_is_billed"],
    "billing_charge": [
        "charge_parts_add_up",
        "charge_within_its_hour",
        "charge_seconds_are_its_time",
    ],
}


def run_without_rules(sql):
    """
    Run the statement as if the database had lost its own rules.
    """
    connection.check_constraints()
    with connection.cursor() as cursor:
        for table, names in CONSTRAINTS_OFF.items():
            for name in names:
                cursor.execute(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
        for statement in switch_triggers("DISABLE"):
            cursor.execute(statement)
        cursor.execute(sql)


@pytest.mark.parametrize(
    ("rule", "sql"),
    [
        (
            "currency balances sum to zero",
            "UPDATE billing_account SET balance = balance + 1 WHERE kind = 'FEES'",
        ),
        (
            "account balance is the sum of its transfers",
            "UPDATE billing_account SET balance = balance + 1 WHERE kind = 'FEES'",
        ),
        (
            "account balance is the sum of its transfers",
            "DELETE FROM billing_transfer WHERE kind = 'USAGE_FEE'",
        ),
        (
            "customer balance is not negative",
            "UPDATE billing_account SET balance = -1 WHERE kind = 'AVAILABLE'",
        ),
        (
            "wallet owns its accounts and is frozen with them",
            "UPDATE billing_wallet SET frozen_at = now()",
        ),
        (
            "wallet owns its accounts and is frozen with them",
            "UPDATE billing_wallet SET available_id = held_id",
        ),
        (
            "held account is what remains of open holds",
            "UPDATE billing_hold SET released = released + 1",
        ),
        (
            "hold is what was transferred for it",
            "UPDATE billing_hold SET amount = amount + 1",
        ),
        (
            "hold is what was transferred for it",
            "UPDATE billing_hold SET captured = captured - 1",
        ),
        (
            "charges are captured from their hold",
            "UPDATE billing_charge SET fee_amount = 0.20, supplier_amount = 0.80",
        ),
        (
            "meter is billed what its charges say, without a gap",
            "UPDATE billing_meter SET billed_amount = 1",
        ),
        (
            "meter is billed what its charges say, without a gap",
            "UPDATE billing_meter SET billed_until = started_at",
        ),
        (
            "meter is billed what its charges say, without a gap",
            "DELETE FROM billing_charge WHERE hour = '2026-06-01T12:00Z'",
        ),
        (
            "meter is billed its rate, rounded once",
            "UPDATE billing_meter SET rate = 1.1",
        ),
        (
            "charge splits by its meter's fee rate",
            "UPDATE billing_charge SET fee_amount = 0.20, supplier_amount = 0.80",
        ),
        (
            "charges of a meter do not overlap",
            "UPDATE billing_charge SET to_at = to_at + interval '1 minute'",
        ),
        (
            "meter is not billed past its end",
            "UPDATE billing_meter SET ends_at = billed_until - interval '1 second'",
        ),
        (
            "payout is what was transferred for it",
            "UPDATE billing_payout SET amount = amount + 1",
        ),
        (
            "payout is what was transferred for it",
            "UPDATE billing_payout SET status = 'RETURNED', returned_at = now()",
        ),
        (
            "open hold covers its running meters",
            "UPDATE billing_hold SET captured = amount - 1",
        ),
        (
            "open hold covers its running meters",
            "UPDATE billing_hold SET status = 'RELEASED', ended_at = now()",
        ),
    ],
)
def test_broken_rule_is_found(run_meter, broken_books, rule, sql):
    run_meter()
    bill_due(at=NOON + timedelta(hours=2))
    BankAccount.objects.create(party=SUPPLIER, currency="USD", holder="x", number="y")
    assert len(run_payouts(at=NOON + timedelta(days=10))) == 1
    assert check_books() == []

    run_without_rules(sql)

    assert rule in {fault.rule for fault in check_books()}


def test_every_question_has_a_test():
    (cases,) = test_broken_rule_is_found.pytestmark

    assert {case[0] for case in cases.args[1]} == set(QUESTIONS)


def test_fault_names_the_row(wallet, broken_books):
    run_without_rules("UPDATE billing_wallet SET frozen_at = now()")

    (fault,) = check_books()

    assert fault == Fault(
        rule="wallet owns its accounts and is frozen with them",
        id=str(wallet.pk),
        seen=f"AVAILABLE user:{wallet.user_id}, HELD user:{wallet.user_id}",
    )


def test_m51c_nothing_is_captured_without_the_supplier_earning(run_meter):
    run_meter(ends_at=NOON + timedelta(hours=72))

    bill_due(at=NOON + timedelta(hours=72))

    assert check_books() == []


def test_command_says_that_the_books_are_right(wallet):
    out = StringIO()

    call_command("check_books", stdout=out)

    assert out.getvalue() == "The books are right.\n"


def test_command_lists_faults_and_exits_with_1(wallet, broken_books):
    run_without_rules("UPDATE billing_wallet SET frozen_at = now()")
    out = StringIO()

    with pytest.raises(SystemExit) as end:
        call_command("check_books", stdout=out)

    assert end.value.code == 1
    assert out.getvalue().startswith(
        f"wallet owns its accounts and is frozen with them: {wallet.pk}: "
    )


def test_books_are_read_as_of_one_moment(wallet, django_assert_num_queries):
    # One statement has one snapshot; two would see what is posted between them.
    with django_assert_num_queries(1):
        assert check_books() == []
