from datetime import timedelta
from decimal import Decimal
from itertools import permutations

import pytest
from djmoney.money import Money
from post_office.models import Email

from billing.ledger import KeyReused
from billing.models import ProviderEvent, TopUp, Transfer
from billing.services import payments
from billing.services.events import process_due
from billing.services.payments import record_payment
from billing.services.wallets import NoSuchWallet
from tests.billing import provider
from tests.billing.conftest import NOON, balance, balance_of, make_wallet, usd

COMPLETED = "checkout.session.completed"
SUCCEEDED = "payment_intent.succeeded"
State = ProviderEvent.State


def status_of(top_up):
    return TopUp.objects.get(pk=top_up.pk).status


def available(wallet):
    return balance(wallet.available_id)


@pytest.fixture
def eur_wallet(db):
    return make_wallet(currency="EUR")


@pytest.fixture
def top_up(wallet):
    return provider.pending(wallet)


def test_m13_credits_net_and_books_vat_apart(eur_wallet):
    top_up = provider.pending(eur_wallet, "100.00", country="FR")
    assert top_up.total == Money("120.00", "EUR")

    row = provider.tell(COMPLETED, provider.session(top_up))

    assert row.state == State.DONE
    assert available(eur_wallet) == Decimal("100.00")
    assert balance_of("TAX", currency="EUR") == Decimal("20.00")
    assert balance_of("CLEARING", "sandbox", "EUR") == Decimal("-120.00")


def test_writes_to_the_customer_in_the_same_transaction(top_up):
    provider.tell(COMPLETED, provider.session(top_up))

    mail = Email.objects.get()
    assert mail.to == ["renter@example.com"]
    assert mail.subject == "$100.00 is in your wallet"
    assert str(top_up.uuid) in mail.message
    assert str(top_up.uuid) in mail.html_message


def test_leads_the_customer_to_a_page_in_the_language_of_the_mail(top_up):
    TopUp.objects.update(language="id")

    provider.tell(COMPLETED, provider.session(top_up))

    assert f"/id/wallet/top-ups/{top_up.uuid}/" in Email.objects.get().message


@pytest.mark.parametrize("order", list(permutations([COMPLETED, SUCCEEDED])))
def test_m6_two_events_for_one_payment_credit_it_once(wallet, order):
    top_up = provider.pending(wallet, "60.00")
    bodies = {COMPLETED: provider.session(top_up), SUCCEEDED: provider.intent(top_up)}

    for kind in order:
        provider.tell(kind, bodies[kind])

    assert available(wallet) == Decimal("60.00")
    assert status_of(top_up) == TopUp.Status.PAID
    assert TopUp.objects.get().charge_id == f"ch_of_{top_up.pk}"
    assert Transfer.objects.count() == 1


def test_m11_unpaid_checkout_credits_when_the_money_arrives(wallet):
    top_up = provider.pending(wallet, "50.00")

    unpaid = provider.session(top_up, payment_status="unpaid")
    provider.tell(COMPLETED, unpaid)
    assert status_of(top_up) == TopUp.Status.PROCESSING
    assert available(wallet) == 0

    provider.tell("checkout.session.async_payment_succeeded", provider.session(top_up))
    assert available(wallet) == Decimal("50.00")


def test_late_word_that_money_is_on_its_way_changes_nothing(wallet):
    top_up = provider.paid(wallet, "50.00")

    provider.tell(COMPLETED, provider.session(top_up, payment_status="unpaid"))

    assert status_of(top_up) == TopUp.Status.PAID


def test_m11_unpaid_checkout_whose_money_never_arrives(wallet):
    top_up = provider.pending(wallet, "50.00")
    unpaid = provider.session(top_up, payment_status="unpaid")

    provider.tell(COMPLETED, unpaid)
    refused = provider.intent(
        top_up,
        amount_received=0,
        status="requires_payment_method",
        last_payment_error={"message": "The account is closed."},
    )
    unpaid["payment_intent"] = refused
    provider.tell("checkout.session.async_payment_failed", unpaid)

    failed = TopUp.objects.get()
    assert (failed.status, failed.failure) == ("FAILED", "The account is closed.")
    assert available(wallet) == 0
    assert not Transfer.objects.exists()


ENDS = {
    COMPLETED: lambda top_up: provider.session(top_up),
    "checkout.session.expired": lambda top_up: provider.session(
        top_up, payment_status="unpaid", status="expired", payment_intent=None
    ),
    "payment_intent.payment_failed": lambda top_up: provider.intent(
        top_up,
        amount_received=0,
        status="requires_payment_method",
        last_payment_error={
            "code": "card_declined",
            "message": "Your card was declined.",
        },
    ),
}


@pytest.mark.parametrize("order", list(permutations(ENDS)))
def test_paid_wins_in_any_order(top_up, wallet, order):
    for kind in order:
        provider.tell(kind, ENDS[kind](top_up))

    assert status_of(top_up) == TopUp.Status.PAID
    assert TopUp.objects.get().failure == ""
    assert available(wallet) == Decimal("100.00")


@pytest.mark.parametrize(
    "order",
    list(permutations(["checkout.session.expired", "payment_intent.payment_failed"])),
)
def test_declined_and_left_is_failed_in_any_order(top_up, order):
    for kind in order:
        provider.tell(kind, ENDS[kind](top_up))

    failed = TopUp.objects.get()
    assert failed.status == TopUp.Status.FAILED
    assert failed.failure == "Your card was declined."


def test_declined_card_may_be_followed_by_another(top_up):
    kind = "payment_intent.payment_failed"
    provider.tell(kind, ENDS[kind](top_up))

    assert status_of(top_up) == TopUp.Status.PENDING


def test_nobody_paid(top_up):
    kind = "checkout.session.expired"
    provider.tell(kind, ENDS[kind](top_up))

    assert status_of(top_up) == TopUp.Status.EXPIRED


def test_m12_coupon_is_a_gift_and_never_refundable(wallet):
    top_up = provider.pending(wallet, "20.00")
    free = provider.session(
        top_up,
        amount_total=0,
        payment_intent=None,
        payment_status="no_payment_required",
        total_details={"amount_discount": 2000},
    )

    provider.tell(COMPLETED, free)
    provider.tell(COMPLETED, free)

    gift = TopUp.objects.get()
    assert gift.is_gift
    assert gift.refundable_net == usd(0)
    assert available(wallet) == Decimal("20.00")
    assert balance_of("PROMOTIONS") == Decimal("-20.00")
    assert balance_of("CLEARING", "sandbox") == 0


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"currency": "eur"}, id="M15 other currency"),
        pytest.param({"amount_total": 9999}, id="a cent less"),
        pytest.param({"amount_total": 20000}, id="twice as much"),
        pytest.param({"metadata": {}}, id="no top-up named"),
        pytest.param({"metadata": {"top_up": "1"}}, id="no such top-up"),
        pytest.param(
            {"payment_status": "no_payment_required", "amount_total": 0},
            id="free without a coupon",
        ),
    ],
)
def test_what_does_not_fit_waits_for_a_person(top_up, wallet, changes):
    row = provider.tell(COMPLETED, provider.session(top_up, **changes))

    assert row.state == State.QUARANTINED
    assert row.note
    assert status_of(top_up) == TopUp.Status.PENDING
    assert available(wallet) == 0


def test_live_event_on_a_test_site_waits_for_a_person(top_up, wallet):
    row = provider.tell(COMPLETED, provider.session(top_up), livemode=True)

    assert row.state == State.QUARANTINED
    assert available(wallet) == 0


def test_m73b_second_payment_for_a_paid_top_up_waits_for_a_person(top_up, wallet):
    provider.tell(COMPLETED, provider.session(top_up))

    row = provider.tell(
        COMPLETED,
        provider.session(top_up, payment_intent=provider.intent(top_up, id="pi_other")),
    )

    assert row.state == State.QUARANTINED
    assert available(wallet) == Decimal("100.00")


def test_unknown_type_is_ignored(db):
    assert provider.tell("customer.created", {"id": "cus_1"}).state == State.IGNORED


def test_m4_failing_handler_is_retried_until_done(wallet, monkeypatch):
    top_up = provider.pending(wallet, "18.00")
    real = payments.record_payment

    def fail(**_):
        raise RuntimeError

    monkeypatch.setattr(payments, "record_payment", fail)
    row = provider.tell(COMPLETED, provider.session(top_up))
    assert row.state == State.RECEIVED
    assert available(wallet) == 0
    assert not Transfer.objects.exists()

    monkeypatch.setattr(payments, "record_payment", real)
    assert process_due(at=NOON + timedelta(seconds=1)) == 1
    assert process_due(at=NOON + timedelta(seconds=2)) == 0

    assert available(wallet) == Decimal("18.00")
    assert status_of(top_up) == TopUp.Status.PAID


def test_waits_longer_after_each_try_and_gives_up_after_three_days(top_up):
    # Refunded, but never paid as far as is known here.
    row = provider.tell("charge.refunded", provider.charge(top_up, refunded=100))
    assert row.state == State.PARKED
    waits = []
    at = NOON
    while row.state != State.QUARANTINED:
        at = row.next_try_at
        process_due(at=at)
        row.refresh_from_db()
        waits.append((row.next_try_at - at).total_seconds())

    assert waits[:4] == [2, 4, 8, 16]
    assert max(waits) == 3600
    assert timedelta(days=3) < at - NOON < timedelta(days=3, hours=1)


def test_record_payment_credits_a_payment_once(wallet):
    terms = {
        "user_id": wallet.user_id,
        "net": usd(100),
        "vat": usd(0),
        "provider": "sandbox",
        "payment_id": "pi_1",
        "at": NOON,
    }

    assert record_payment(**terms)
    assert not record_payment(**terms)
    with pytest.raises(KeyReused):
        record_payment(**terms | {"net": usd(101)})

    assert available(wallet) == Decimal("100.00")


def test_record_payment_needs_a_wallet(wallet):
    with pytest.raises(NoSuchWallet):
        record_payment(
            user_id=wallet.user_id,
            net=Money(5, "GBP"),
            vat=Money(0, "GBP"),
            provider="sandbox",
            payment_id="pi_1",
            at=NOON,
        )

    assert not Transfer.objects.exists()
