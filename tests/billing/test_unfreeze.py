"""
Frozen wallets: what the customer sees, and how staff let them go.
"""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.db import DatabaseError, connection, transaction
from post_office.models import Email

from billing.models import Dispute, Transfer, Wallet, WalletEvent
from billing.services.freezes import DebtLeft, DisputeOpen, frozen_cases, let_go
from billing.services.wallets import NoSuchWallet, freeze_wallet
from tests.billing import provider
from tests.billing.conftest import NOON, balance, balance_of, usd
from tests.billing.test_disputes import CLOSED, CREATED, spend
from tests.billing.top_up_steps import page_text

PAGE = "/staff/disputes/"


@pytest.fixture
def top_up(renter):
    """
    100.00 paid.
    """
    return provider.paid(Wallet.objects.get(user=renter, currency="USD"))


def tell(top_up, status, kind=CREATED):
    return provider.tell(kind, provider.dispute(top_up, minor=10000, status=status))


@pytest.fixture
def undecided(top_up):
    tell(top_up, "needs_response")
    return top_up.wallet


@pytest.fixture
def lost(top_up, undecided):
    tell(top_up, "lost", CLOSED)
    return top_up.wallet


@pytest.fixture
def in_debt(top_up):
    """
    35.00 of it was spent.
    """
    spend(top_up.wallet, "35.00")
    tell(top_up, "lost", CLOSED)
    return top_up.wallet


def url_of(wallet):
    return f"{PAGE}{wallet.pk}/unfreeze/"


def is_frozen(wallet):
    return Wallet.objects.get(pk=wallet.pk).frozen_at is not None


def release(wallet, staff, **changes):
    terms = {"reason": "Paid by bank transfer", "writes_off": False, "at": NOON}
    let_go(wallet_id=wallet.pk, actor_id=staff.pk, **terms | changes)


def test_staff_let_a_wallet_go_after_a_lost_dispute(staff_client, staff, lost):
    answer = staff_client.post(url_of(lost), {"reason": "Settled"}, follow=True)

    assert not is_frozen(lost)
    page = page_text(answer)
    assert "The wallet can be used again." in page
    assert "No wallet is frozen" in page
    assert "Unfrozen Settled staff@example.com" in page
    frozen, free = WalletEvent.objects.order_by("pk")
    dispute = Dispute.objects.get()
    assert (frozen.kind, frozen.reason, frozen.actor) == (
        "FROZEN",
        dispute.provider_ref,
        None,
    )
    assert (free.kind, free.reason, free.actor) == ("LET_GO", "Settled", staff)
    subjects = Email.objects.order_by("pk").values_list("subject", flat=True)
    assert list(subjects)[1:] == [
        "Your bank took back a payment of $100.00",
        "Your USD wallet can be used again",
    ]


def test_needs_a_reason(staff_client, lost):
    assert staff_client.post(url_of(lost), {"reason": " "}).status_code == 422

    assert is_frozen(lost)
    assert WalletEvent.objects.count() == 1


def test_open_dispute_is_waited_for(staff_client, staff, undecided):
    assert "Wait for the bank" in page_text(staff_client.get(PAGE))

    answer = staff_client.post(url_of(undecided), {"reason": "Please"})

    assert answer.status_code == 422
    assert "Wait until the bank has decided it" in page_text(answer)
    assert is_frozen(undecided)
    with pytest.raises(DisputeOpen):
        release(undecided, staff)


def test_debt_stays_or_is_written_off(staff_client, staff, in_debt):
    page = page_text(staff_client.get(url_of(in_debt)))
    assert "Available -$35.00" in page
    assert "Write the debt off" in page
    with pytest.raises(DebtLeft):
        release(in_debt, staff)
    assert is_frozen(in_debt)
    losses = balance_of("WRITE_OFFS")

    staff_client.post(url_of(in_debt), {"reason": "Too small", "writes_off": "on"})

    assert not is_frozen(in_debt)
    assert balance(in_debt.available_id) == 0
    assert balance_of("WRITE_OFFS") == losses - Decimal("35.00")
    assert Transfer.objects.get(kind="WRITE_OFF").amount == usd(35)


def test_debt_that_was_topped_up_is_no_debt(staff_client, in_debt):
    provider.paid(in_debt, "50.00")
    assert is_frozen(in_debt)
    page = page_text(staff_client.get(url_of(in_debt)))
    assert "Write the debt off" not in page

    staff_client.post(url_of(in_debt), {"reason": "Paid"})

    assert not is_frozen(in_debt)
    assert balance(in_debt.available_id) == Decimal("15.00")


def test_wallet_let_go_twice_is_let_go_once(staff, staff_client, lost):
    for _ in range(2):
        release(lost, staff)

    assert WalletEvent.objects.filter(kind="LET_GO").count() == 1
    assert staff_client.get(url_of(lost)).status_code == 404
    with pytest.raises(NoSuchWallet):
        let_go(wallet_id=0, actor_id=staff.pk, reason="x", writes_off=False, at=NOON)


def test_wallet_frozen_without_a_dispute_is_let_go_without_a_mail(top_up, staff):
    wallet = top_up.wallet
    freeze_wallet(user_id=wallet.user_id, currency="USD", at=NOON)
    mails = Email.objects.count()

    release(wallet, staff)

    assert not is_frozen(wallet)
    assert Email.objects.count() == mails
    assert str(WalletEvent.objects.get()) == "LET_GO Paid by bank transfer"


def test_lost_dispute_that_staff_settled_does_not_hold_the_next_one(lost, staff):
    release(lost, staff)
    later = NOON.replace(day=3)
    second = provider.paid(lost, "20.00")
    body = provider.dispute(second, minor=2000)
    provider.tell(CREATED, body, at=later)
    assert is_frozen(lost)

    provider.tell(CLOSED, body | {"status": "won"}, at=later)

    assert not is_frozen(lost)


@pytest.mark.parametrize("status", ["needs_response", "lost"])
def test_dispute_that_was_told_late_counts_as_well(wallet, status):
    first, second = provider.paid(wallet, "10.00"), provider.paid(wallet, "20.00")
    body = provider.dispute(second, minor=2000)
    later = NOON + timedelta(minutes=1)
    provider.tell(CREATED, body, at=later)
    # The worker that has this one read its clock a minute ago.
    provider.tell(CREATED, provider.dispute(first, minor=1000, status=status))

    provider.tell(CLOSED, body | {"status": "won"}, at=later)

    assert is_frozen(wallet)
    (case,) = frozen_cases()
    assert [row.top_up for row in case.disputes] == [second, first]


def test_pages_are_for_staff(renter_client, staff_client, lost):
    for method in (renter_client.get, renter_client.post):
        assert method(url_of(lost)).status_code == 404
    assert renter_client.get(PAGE).status_code == 404
    assert staff_client.post(PAGE).status_code == 405
    assert is_frozen(lost)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE billing_walletevent SET reason = 'other'",
        "DELETE FROM billing_walletevent",
    ],
)
def test_log_is_for_ever(undecided, statement):
    with (
        pytest.raises(DatabaseError),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(statement)

    assert WalletEvent.objects.count() == 1


def test_customer_sees_what_happened_and_what_to_do(
    renter_client, top_up, in_debt, django_assert_max_num_queries
):
    with django_assert_max_num_queries(10):
        page = page_text(renter_client.get("/wallet/"))

    assert "On June 1, 2026 your bank decided to keep a payment of $100.00" in page
    assert "$35.00 is missing" in page


def test_customer_sees_that_the_bank_has_not_decided(renter_client, undecided):
    page = page_text(renter_client.get("/wallet/"))

    assert "Your bank took back a payment of $100.00 on June 1, 2026." in page
    assert "If you did not dispute it, tell your bank so." in page


def test_customer_is_told_to_write_when_nothing_is_missing(renter_client, lost):
    assert "Write to us to use this wallet again." in page_text(
        renter_client.get("/wallet/")
    )


def test_won_dispute_beside_a_lost_one_is_said(renter_client, undecided):
    second = provider.paid(undecided, "20.00")
    body = provider.dispute(second, minor=2000, status="won")
    provider.tell(CLOSED, body)

    page = page_text(renter_client.get("/wallet/"))

    assert "your bank gave a payment of $20.00 back" in page
