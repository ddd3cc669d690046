"""
The database itself refuses what would break the books, whoever asks.
"""

from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.db import IntegrityError, connection, transaction

from billing.models import Account, Charge, Hold, Meter, Transfer, Wallet
from billing.services import bill_due
from billing.services.wallets import freeze_wallet
from tests.billing.conftest import NOON, balance, make_wallet, pay, usd

INSERT_TRANSFER = """
    INSERT INTO billing_transfer
        (debit_id, credit_id, currency, amount, kind, "group", key, reference, happened_at)
    VALUES (%(debit)s, %(credit)s, %(currency)s, %(amount)s, 'CORRECTION',
        gen_random_uuid(), %(key)s, '', now())
"""


def refuse(sql, row=None, *, match):
    # Nothing may be pending, or a TRUNCATE is refused for that reason already.
    connection.check_constraints()
    with pytest.raises(IntegrityError, match=match), transaction.atomic():
        connection.cursor().execute(sql, row)


@pytest.fixture
def transfer(wallet, pay_in):
    """
    What to change of a transfer of one dollar from available to held.
    """
    pay_in("10")
    return {
        "debit": wallet.available_id,
        "credit": wallet.held_id,
        "currency": "USD",
        "amount": Decimal(1),
        "key": "raw",
    }


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE billing_transfer SET amount = 2",
        "UPDATE billing_transfer SET reference = 'x'",
        "DELETE FROM billing_transfer",
        "TRUNCATE billing_transfer",
        "UPDATE billing_charge SET amount = 0, supplier_amount = 0, fee_amount = 0",
        "DELETE FROM billing_charge",
        "TRUNCATE billing_charge",
        "DELETE FROM billing_account",
        "TRUNCATE billing_account CASCADE",
        "UPDATE billing_account SET party = 'user:0' WHERE kind = 'AVAILABLE'",
        "UPDATE billing_account SET kind = 'FEES' WHERE kind = 'AVAILABLE'",
        "UPDATE billing_account SET currency = 'EUR'",
    ],
)
def test_history_cannot_change(run_meter, sql):
    run_meter()
    bill_due(at=NOON + timedelta(hours=1))

    refuse(sql, match="is refused")


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param("UPDATE billing_account SET balance = -0.01", id="M33"),
        "UPDATE billing_account SET balance = balance + 1",
        """
        INSERT INTO billing_account (kind, party, currency, balance, may_go_negative)
        VALUES ('FEES', '', 'GBP', 1, false)
        """,
    ],
)
def test_m49d_balance_moves_by_transfers_only(wallet, sql):
    refuse(sql, match="is refused")


def test_m49d_balance_follows_a_raw_transfer(wallet, transfer, broken_books):
    with connection.cursor() as cursor:
        cursor.execute(INSERT_TRANSFER, transfer)

    assert balance(wallet.available_id) == 9
    assert balance(wallet.held_id) == 1


def test_m49d_balances_follow_several_raw_transfers(wallet, transfer, broken_books):
    Transfer.objects.bulk_create(
        Transfer(
            debit_id=wallet.available_id,
            credit_id=wallet.held_id,
            amount=usd(amount),
            kind=Transfer.Kind.CORRECTION,
            group=uuid4(),
            key=f"raw {amount}",
            happened_at=NOON,
        )
        for amount in (1, 2, 3)
    )

    assert balance(wallet.available_id) == 4
    assert balance(wallet.held_id) == 6


@pytest.mark.parametrize(
    ("change", "match"),
    [
        pytest.param({"amount": Decimal("11.01")}, "not_negative", id="M33"),
        ({"amount": Decimal(0)}, "transfer_amount_positive"),
        ({"amount": Decimal(-1)}, "transfer_amount_positive"),
        ({"currency": "EUR"}, "same_currency"),
        ({"key": "test-payment/net"}, "transfer_unique_key"),
        ({"debit": 0}, "same_currency"),
    ],
)
def test_transfer_is_refused(wallet, transfer, change, match):
    pay(wallet, "1", key="test-payment")

    refuse(INSERT_TRANSFER, {**transfer, **change}, match=match)

    assert balance(wallet.available_id) == 11


def test_transfer_to_its_own_account_is_refused(transfer):
    own = {**transfer, "credit": transfer["debit"]}

    refuse(INSERT_TRANSFER, own, match="transfer_between_two_accounts")


def test_transfer_to_another_currency_is_refused(wallet, transfer):
    euros = make_wallet(currency="EUR")

    refuse(
        INSERT_TRANSFER, {**transfer, "credit": euros.held_id}, match="same_currency"
    )


@pytest.mark.parametrize(
    ("sql", "match"),
    [
        (
            "UPDATE billing_account SET may_go_negative = true WHERE kind = 'HELD'",
            "only_available_may_go_negative",
        ),
        (
            "INSERT INTO billing_account (kind, party, currency, balance, may_go_negative)"
            " SELECT kind, party, currency, 0, false FROM billing_account",
            "unique_kind_party_currency",
        ),
        (
            "INSERT INTO billing_account (kind, party, currency, balance, may_go_negative)"
            " VALUES ('PAYABLE', '', 'USD', 0, false)",
            "names_it",
        ),
        ("UPDATE billing_wallet SET currency = 'EUR'", "same_currency"),
        ("UPDATE billing_wallet SET held_id = 0", "same_currency"),
    ],
)
def test_account_or_wallet_is_refused(wallet, sql, match):
    refuse(sql, match=match)


def test_wallet_below_zero_cannot_be_unfrozen(wallet, pay_in, broken_books):
    freeze_wallet(user_id=wallet.user_id, currency="USD", at=NOON)
    clearing = Account.objects.create(
        kind="CLEARING", party="sandbox", currency="USD", balance="0"
    )
    row = {
        "debit": wallet.available_id,
        "credit": clearing.pk,
        "currency": "USD",
        "amount": Decimal(35),
        "key": "dispute",
    }
    with connection.cursor() as cursor:
        cursor.execute(INSERT_TRANSFER, row)

    assert balance(wallet.available_id) == -35
    refuse("UPDATE billing_account SET may_go_negative = false", match="not_negative")


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ("captured = 100.01", "hold_covers_its_parts"),
        ("captured = 60, released = 40.01", "hold_covers_its_parts"),
        ("captured = -1", "hold_parts_not_negative"),
        ("released = -1", "hold_parts_not_negative"),
        ("amount = 0", "hold_parts_not_negative"),
        ("status = 'RELEASED'", "hold_ended_leaves_nothing"),
        ("status = 'RELEASED', ended_at = now()", "hold_ended_leaves_nothing"),
        ("ended_at = now()", "hold_ended_leaves_nothing"),
        ("currency = 'EUR'", "same_currency"),
    ],
)
def test_hold_is_refused(hold, change, match):
    refuse(f"UPDATE billing_hold SET {change}", match=match)


def test_second_hold_for_a_reference_is_refused(hold):
    copy = Hold.objects.get()
    copy.pk = None

    with (
        pytest.raises(IntegrityError, match="hold_unique_reference"),
        transaction.atomic(),
    ):
        copy.save()


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ("rate = -0.000001", "meter_rate_not_negative"),
        ("units = 0", "meter_rate_not_negative"),
        ("period_seconds = 0", "meter_rate_not_negative"),
        ("fee_rate = 1.0001", "meter_fee_rate_a_share"),
        ("fee_rate = -0.0001", "meter_fee_rate_a_share"),
        ("billed_until = ends_at + interval '1 s'", "meter_billed_within_its_time"),
        ("billed_until = started_at - interval '1 s'", "meter_billed_within_its_time"),
        ("ends_at = started_at - interval '1 s'", "meter_billed_within_its_time"),
        ("stopped_at = ends_at", "meter_stopped_is_billed"),
        ("billed_amount = -0.01", "meter_billed_not_negative"),
        ("started_at = started_at - interval '0.5 s'", "whole_seconds"),
        ("ends_at = ends_at + interval '0.5 s'", "whole_seconds"),
        ("currency = 'EUR'", "same_currency"),
        ("payee_id = 0", "same_currency"),
    ],
)
def test_meter_is_refused(run_meter, change, match):
    run_meter()

    refuse(f"UPDATE billing_meter SET {change}", match=match)


def test_m56c_terms_of_one_meter_cannot_overlap(run_meter):
    run_meter(name="compute", key="compute:1", ends_at=NOON + timedelta(hours=4))

    run_meter(name="storage", key="storage:1", ends_at=NOON + timedelta(hours=4))
    run_meter(
        name="compute",
        key="compute:2",
        started_at=NOON + timedelta(hours=4),
        ends_at=NOON + timedelta(hours=5),
    )
    with pytest.raises(IntegrityError, match="meter_terms_do_not_overlap"):
        run_meter(
            name="compute",
            key="compute:3",
            started_at=NOON + timedelta(hours=3),
            ends_at=NOON + timedelta(hours=4),
        )

    assert Meter.objects.count() == 3


def make_charge(meter, **changes):
    """
    Insert the charge of the second hour, changed; moments are given as their time.
    """
    row = {
        "hour": "13:00:00",
        "from_at": "13:00:00",
        "to_at": "14:00:00",
        "seconds": 3600,
        "amount": "1.00",
        "supplier_amount": "0.90",
        "fee_amount": "0.10",
        "currency": "USD",
        **changes,
    }
    for name in ("hour", "from_at", "to_at"):
        row[name] = datetime.combine(NOON, time.fromisoformat(row[name]), UTC)
    with transaction.atomic():
        Charge.objects.create(meter_id=meter.id, **row)


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"amount": "2.00"}, "charge_parts_add_up"),
        ({"supplier_amount": "1.10", "fee_amount": "-0.10"}, "charge_parts_add_up"),
        ({"to_at": "14:00:01", "seconds": 3601}, "charge_within_its_hour"),
        ({"from_at": "12:59:00", "seconds": 3660}, "charge_within_its_hour"),
        ({"to_at": "13:00:00", "seconds": 0}, "charge_within_its_hour"),
        ({"seconds": 3599}, "charge_seconds_are_its_time"),
        ({"hour": "12:59:59", "from_at": "12:59:59", "to_at": "13:59:59"}, "is_whole"),
        ({"currency": "EUR"}, "same_currency"),
    ],
)
def test_charge_is_refused(run_meter, changes, match):
    meter = run_meter()

    with pytest.raises(IntegrityError, match=match):
        make_charge(meter, **changes)

    assert not Charge.objects.exists()


def test_second_charge_for_one_hour_is_refused(run_meter):
    meter = run_meter()
    bill_due(at=NOON + timedelta(hours=2))

    with pytest.raises(IntegrityError, match="charge_unique_meter_hour"):
        make_charge(meter)

    assert Charge.objects.count() == 2


def test_second_wallet_of_one_user_and_currency_is_refused(wallet):
    other = make_wallet("other@example.com")

    with (
        pytest.raises(IntegrityError, match="wallet_unique_user_currency"),
        transaction.atomic(),
    ):
        Wallet.objects.filter(pk=other.pk).update(user_id=wallet.user_id)
