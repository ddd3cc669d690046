"""
The sandbox's side: what it keeps, and events that arrive by real HTTP.
"""

from datetime import timedelta
from decimal import Decimal

import pytest

import clock
from billing import tasks
from billing.gateway import (
    CardDeclined,
    CardOrder,
    CheckoutOrder,
    GatewayError,
    NotAtProvider,
)
from billing.gateways import by_name, current, deliveries, sandbox
from billing.gateways.sandbox import SandboxGateway
from billing.models import SandboxDelivery, SandboxPayment, TopUp
from tests.billing import provider
from tests.billing.conftest import NOON, balance, make_wallet, usd

State = SandboxPayment.State


def order(**changes):
    return CheckoutOrder(
        **{
            "key": "topup:1",
            "reference": "1",
            "total": usd(120),
            "description": "Corehour",
            "email": "renter@example.com",
            "language": "en",
            "return_url": "http://127.0.0.1:8000/back/",
            "expires_at": NOON + timedelta(hours=1),
        }
        | changes
    )


def card_order(**changes):
    return CardOrder(
        **{
            "key": "auto:1",
            "reference": "1",
            "total": usd(120),
            "customer_ref": "cus_1",
            "card_ref": "pm_1",
        }
        | changes
    )


def test_same_key_is_the_same_payment(db):
    first = SandboxGateway().open_checkout(order())

    assert SandboxGateway().open_checkout(order()) == first
    assert SandboxPayment.objects.count() == 1


def test_m73_same_key_with_another_amount_is_refused(db):
    SandboxGateway().open_checkout(order())

    with pytest.raises(GatewayError):
        SandboxGateway().open_checkout(order(total=usd(125)))

    assert SandboxPayment.objects.get().total == usd(120)


def test_customer_of_a_key_is_the_same(db):
    gateway = SandboxGateway()
    first = gateway.open_customer(key="user:1", email="renter@example.com")

    assert gateway.open_customer(key="user:1", email="renter@example.com") == first
    assert gateway.open_customer(key="user:2", email="renter@example.com") != first


def test_saved_card_pays_at_once_and_once(db):
    answers = [SandboxGateway().charge_card(card_order()) for _ in range(2)]

    assert {answer.body["status"] for answer in answers} == {"succeeded"}
    payment = SandboxPayment.objects.get()
    assert payment.state == State.PAID
    assert payment.deliveries.count() == 1


def test_saved_card_that_two_ask_for_at_once_pays_once(db, monkeypatch):
    SandboxGateway().charge_card(card_order())
    seen_earlier = SandboxPayment.objects.get()
    seen_earlier.state = State.OPEN
    monkeypatch.setattr(sandbox, "_payment_once", lambda **_: seen_earlier)

    answer = SandboxGateway().charge_card(card_order())

    assert answer.body["status"] == "succeeded"
    assert seen_earlier.movements.count() == seen_earlier.deliveries.count() == 1


def test_declining_card(db):
    with pytest.raises(CardDeclined):
        SandboxGateway().charge_card(card_order(card_ref=sandbox.DECLINING_CARD))

    payment = SandboxPayment.objects.get()
    assert payment.state == State.FAILED
    assert not payment.deliveries.exists()


def test_fetches_what_it_knows(db):
    checkout = SandboxGateway().open_checkout(order())
    reference = checkout.provider_ref.removeprefix("cs_test_")
    sandbox.pay(reference=reference, at=NOON)

    session = SandboxGateway().fetch(
        kind="checkout.session", provider_ref=checkout.provider_ref
    )
    intent = SandboxGateway().fetch(
        kind="payment_intent", provider_ref=f"pi_{reference}"
    )

    assert session.body["payment_status"] == "paid"
    assert session.body["payment_intent"] == intent.body
    assert intent.body["amount_received"] == 12000


def test_does_not_know_every_payment(db):
    with pytest.raises(GatewayError):
        SandboxGateway().fetch(kind="checkout.session", provider_ref="cs_test_1")


def test_refunds_no_more_than_was_paid(db):
    checkout = SandboxGateway().open_checkout(order())
    reference = checkout.provider_ref.removeprefix("cs_test_")
    back = {"payment_id": f"pi_{reference}", "total": usd(70)}

    with pytest.raises(GatewayError):
        SandboxGateway().refund(sandbox.RefundOrder(key="1", reference="1", **back))
    sandbox.pay(reference=reference, at=NOON)
    for _ in range(2):
        SandboxGateway().refund(sandbox.RefundOrder(key="1", reference="1", **back))
    with pytest.raises(GatewayError):
        SandboxGateway().refund(sandbox.RefundOrder(key="2", reference="2", **back))

    assert SandboxPayment.objects.get().refunded == usd(70)


def test_settings_choose_the_provider(settings):
    assert current().name == "sandbox"
    settings.PAYMENT_GATEWAY = "stripe"
    settings.STRIPE_SECRET_KEY = "sk_test_x"
    assert current().name == "stripe"
    with pytest.raises(KeyError):
        by_name("paypal")


@pytest.fixture
def site(settings, live_server):
    settings.SITE_URL = live_server.url
    return live_server


@pytest.fixture
def paid_in_sandbox(transactional_db):
    wallet = make_wallet()
    top_up = provider.pending(wallet, at=clock.now())
    sandbox.pay(reference=top_up.provider_ref.removeprefix("cs_test_"), at=clock.now())
    return top_up


def test_events_arrive_by_http_and_credit_the_wallet(site, paid_in_sandbox):
    tasks.run_sandbox()

    assert TopUp.objects.get().status == TopUp.Status.PAID
    assert balance(paid_in_sandbox.wallet.available_id) == Decimal("100.00")
    rows = SandboxDelivery.objects.all()
    assert [(row.answer, row.tries) for row in rows] == [("200", 1), ("200", 1)]
    assert all(row.delivered_at for row in rows)
    assert deliveries.deliver_due(at=clock.now() + timedelta(hours=1)) == 0


def test_dead_site_hears_it_later(settings, paid_in_sandbox, request):
    # Port 9 of the own machine: nobody listens.
    settings.SITE_URL = "http://127.0.0.1:9"
    now = clock.now()
    assert deliveries.deliver_due(at=now) == 2
    row = SandboxDelivery.objects.first()
    assert row.answer == "ConnectionError"
    assert row.delivered_at is None
    assert row.next_try_at == now + timedelta(seconds=2)
    assert deliveries.deliver_due(at=now + timedelta(seconds=1)) == 0

    settings.SITE_URL = request.getfixturevalue("live_server").url
    assert deliveries.deliver_due(at=now + timedelta(seconds=2)) == 2

    assert balance(paid_in_sandbox.wallet.available_id) == Decimal("100.00")


def test_refusing_site_hears_it_again(site, paid_in_sandbox, monkeypatch):
    now = clock.now()
    with monkeypatch.context() as forged:
        forged.setattr(deliveries, "sign", lambda body, secret, at: "t=1,v1=00")
        deliveries.deliver_due(at=now)
    assert {row.answer for row in SandboxDelivery.objects.all()} == {"400"}
    assert balance(paid_in_sandbox.wallet.available_id) == 0

    deliveries.deliver_due(at=now + timedelta(seconds=2))

    assert balance(paid_in_sandbox.wallet.available_id) == Decimal("100.00")


def test_event_taken_by_another_sender_is_left(paid_in_sandbox, monkeypatch):
    now, sent = clock.now(), []

    def deliver(row, at):
        sent.append(row.pk)
        # Another sender claims what this one has listed and not come to yet.
        SandboxDelivery.objects.exclude(pk=row.pk).update(
            next_try_at=at + deliveries.LEASE
        )

    monkeypatch.setattr(deliveries, "_deliver", deliver)

    assert deliveries.deliver_due(at=now) == 1
    assert len(sent) == 1


def test_nothing_runs_where_money_is_real(settings, paid_in_sandbox):
    settings.PAYMENT_GATEWAY = "stripe"

    tasks.run_sandbox()

    assert not SandboxDelivery.objects.filter(tries__gt=0).exists()


@pytest.fixture
def paid_payment(db):
    checkout = SandboxGateway().open_checkout(order())
    return sandbox.pay(
        reference=checkout.provider_ref.removeprefix("cs_test_"), at=NOON
    )


def fetched(kind, provider_ref):
    return SandboxGateway().fetch(kind=kind, provider_ref=provider_ref).body


def test_fetches_a_charge_and_its_refund(paid_payment):
    SandboxGateway().refund(
        sandbox.RefundOrder(
            key="1", reference="abc", payment_id=paid_payment.payment_id, total=usd(70)
        )
    )

    charge = fetched("charge", paid_payment.charge_id)
    refund = fetched("refund", "re_abc")

    assert (charge["amount"], charge["amount_refunded"]) == (12000, 7000)
    assert (refund["amount"], refund["metadata"]) == (7000, {"refund": "abc"})
    assert refund["payment_intent"] == charge["payment_intent"]
    with pytest.raises(NotAtProvider):
        fetched("refund", "re_other")
    with pytest.raises(NotAtProvider):
        fetched("dispute", paid_payment.dispute_id)


@pytest.mark.parametrize(("is_won", "net"), [(False, -13500), (True, -1500)])
def test_fetches_a_dispute_with_what_it_moved(paid_payment, is_won, net):
    reference = paid_payment.reference
    sandbox.dispute(reference=reference, at=NOON)
    with pytest.raises(sandbox.NotOpen):
        sandbox.dispute(reference=reference, at=NOON)

    sandbox.decide_dispute(reference=reference, is_won=is_won, at=NOON)

    body = fetched("dispute", paid_payment.dispute_id)
    assert (body["status"], body["amount"]) == ("won" if is_won else "lost", 12000)
    assert sum(row["net"] for row in body["balance_transactions"]) == net
    with pytest.raises(sandbox.NotOpen):
        sandbox.decide_dispute(reference=reference, is_won=not is_won, at=NOON)
