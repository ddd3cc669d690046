"""
The Stripe adapter: against localstripe, and a stub for what that lacks.
"""

import socket
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path
from urllib.parse import unquote

import pytest
import requests
import stripe
from djmoney.money import Money

from billing.gateway import (
    CardDeclined,
    CardOrder,
    CheckoutOrder,
    GatewayError,
    NotAtProvider,
    OutcomeUnknown,
    RefundOrder,
)
from billing.gateways.stripe import StripeGateway
from billing.models import ProviderEvent, TopUp
from billing.services.janitor import look_up_payments
from tests.billing import provider
from tests.billing.conftest import NOON, balance, make_wallet, usd
from tests.billing.stub_server import stub_server

KEY = "sk_test_local"
SERVER = Path(__file__).with_name("localstripe_server.py")


@pytest.fixture(autouse=True)
def secret_key(settings):
    settings.STRIPE_SECRET_KEY = KEY
    settings.STRIPE_WEBHOOK_SECRETS = ["whsec_test"]


@pytest.fixture(scope="module")
def localstripe_url(tmp_path_factory):
    """
    A localstripe of this test module, on a port that is free.
    """
    with socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::", 0))
        port = probe.getsockname()[1]
    folder = tmp_path_factory.mktemp("localstripe")
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, SERVER, "--from-scratch", f"--port={port}"],
            cwd=folder,
            stdout=log,
            stderr=log,
        )
    url = f"http://127.0.0.1:{port}"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            requests.get(url, timeout=1)
            break
        except requests.ConnectionError:
            time.sleep(0.1)
    yield url
    process.terminate()
    process.wait(10)


@pytest.fixture
def local(localstripe_url):
    return StripeGateway(api_url=localstripe_url)


@pytest.fixture
def stub():
    with stub_server() as stub:
        yield stub


@pytest.fixture
def gateway(stub):
    return StripeGateway(api_url=stub.url)


def attach(local, customer, card="pm_card_visa"):
    return local.client.v1.payment_methods.attach(card, {"customer": customer}).id


def card_order(**changes):
    return CardOrder(
        **{
            "key": "auto:1",
            "reference": "11111111-1111-4111-8111-111111111111",
            "total": usd("12.34"),
            "customer_ref": "cus_1",
            "card_ref": "pm_1",
        }
        | changes
    )


def paid_and_refunded(local):
    """
    12.34 paid from a saved card and 2.34 of it given back.
    """
    customer = local.open_customer(key="user:1", email="renter@example.com")
    card = attach(local, customer)
    paid = local.charge_card(card_order(customer_ref=customer, card_ref=card))
    back = local.refund(
        RefundOrder(
            key="refund:1",
            reference="22222222-2222-4222-8222-222222222222",
            payment_id=paid.body["id"],
            total=usd("2.34"),
        )
    )
    return paid, back


def test_charges_a_saved_card_and_refunds_it(local):
    paid, back = paid_and_refunded(local)

    assert paid.kind == "payment_intent"
    assert paid.body["status"] == "succeeded"
    assert paid.body["amount"] == 1234
    assert paid.body["currency"] == "usd"
    assert paid.body["metadata"]["top_up"] == card_order().reference
    assert back.body["status"] == "succeeded"
    assert back.body["amount"] == 234
    assert back.body["metadata"]["refund"].startswith("22222222")


def test_fetches_a_payment(local):
    customer = local.open_customer(key="user:1", email="renter@example.com")
    paid = local.charge_card(
        card_order(customer_ref=customer, card_ref=attach(local, customer))
    )

    found = local.fetch(kind="payment_intent", provider_ref=paid.body["id"])

    assert found.body["id"] == paid.body["id"]
    assert found.body["status"] == "succeeded"


def test_describes_and_forgets_a_card(local):
    customer = local.open_customer(key="user:1", email="renter@example.com")
    card = attach(local, customer)

    assert local.describe_card(card) == "Visa •••• 4242"
    local.forget_card(card)

    kept = local.client.v1.payment_methods.list({"customer": customer, "type": "card"})
    assert kept.data == []


def test_describes_what_is_no_card_by_its_name(gateway, stub):
    stub.answers = [(200, {"id": "pm_1", "object": "payment_method", "card": None})]

    assert gateway.describe_card("pm_1") == "pm_1"


def test_declined_card_is_said(local):
    customer = local.open_customer(key="user:1", email="renter@example.com")
    card = attach(local, customer, "pm_card_chargeCustomerFail")

    with pytest.raises(CardDeclined, match="declined"):
        local.charge_card(card_order(customer_ref=customer, card_ref=card))


def test_unknown_customer_is_refused(local):
    with pytest.raises(GatewayError) as caught:
        local.charge_card(card_order(customer_ref="cus_none"))

    assert not isinstance(caught.value, (CardDeclined, OutcomeUnknown))


def order(**changes):
    return CheckoutOrder(
        **{
            "key": "topup:1",
            "reference": "11111111-1111-4111-8111-111111111111",
            "total": Money("120.00", "EUR"),
            "description": "Corehour prepaid balance",
            "email": "renter@example.com",
            "language": "es",
            "return_url": "https://corehour.example/wallet/",
            "expires_at": NOON + timedelta(hours=1),
        }
        | changes
    )


def test_opens_a_checkout(gateway, stub):
    stub.answers = [(200, {"id": "cs_test_1", "object": "checkout.session", "url": "https://checkout.stripe.com/c/1"})]  # fmt: skip

    checkout = gateway.open_checkout(order())

    assert checkout.provider_ref == "cs_test_1"
    assert checkout.url == "https://checkout.stripe.com/c/1"
    path, headers, asked = stub.asked[0]
    assert path == "/v1/checkout/sessions"
    assert headers["Idempotency-Key"] == "topup:1"
    assert headers["Stripe-Version"] == "2026-10-28.endive"
    assert headers["Authorization"] == f"Bearer {KEY}"
    assert asked == {
        "mode": "payment",
        "client_reference_id": order().reference,
        "metadata[top_up]": order().reference,
        "payment_intent_data[metadata][top_up]": order().reference,
        "line_items[0][quantity]": "1",
        "line_items[0][price_data][currency]": "eur",
        "line_items[0][price_data][unit_amount]": "12000",
        "line_items[0][price_data][product_data][name]": "Corehour prepaid balance",
        "locale": "es",
        "success_url": order().return_url,
        "cancel_url": order().return_url,
        "expires_at": str(int(order().expires_at.timestamp())),
        "customer_email": "renter@example.com",
    }


def test_opens_a_checkout_that_saves_the_card(gateway, stub):
    stub.answers = [(200, {"id": "cs_test_1", "url": None})]

    gateway.open_checkout(order(saves_card_for="cus_1"))

    asked = stub.asked[0][2]
    assert asked["customer"] == "cus_1"
    assert asked["payment_intent_data[setup_future_usage]"] == "off_session"
    assert "customer_email" not in asked


def test_fetches_a_checkout(gateway, stub):
    stub.answers = [(200, {"id": "cs_test_1", "object": "checkout.session", "status": "open"})]  # fmt: skip

    found = gateway.fetch(kind="checkout.session", provider_ref="cs_test_1")

    assert found.body["status"] == "open"
    path, _headers, _body = stub.asked[0]
    assert unquote(path) == "/v1/checkout/sessions/cs_test_1?expand[0]=payment_intent"


def test_fetches_a_dispute(gateway, stub):
    stub.answers = [(200, {"id": "dp_1", "object": "dispute", "status": "lost"})]

    found = gateway.fetch(kind="dispute", provider_ref="dp_1")

    assert (found.kind, found.body["status"]) == ("dispute", "lost")
    assert stub.asked[0][0] == "/v1/disputes/dp_1"


@pytest.mark.parametrize("kind", ["charge", "refund"])
def test_fetches_what_was_paid_and_given_back(local, kind):
    _paid, back = paid_and_refunded(local)
    names = {"charge": back.body["charge"], "refund": back.body["id"]}

    found = local.fetch(kind=kind, provider_ref=names[kind])

    assert found.body["id"] == names[kind]
    amount = found.body["amount_refunded" if kind == "charge" else "amount"]
    assert amount == 234


def test_what_there_is_not_is_told_from_what_is_refused(local):
    with pytest.raises(NotAtProvider):
        local.fetch(kind="charge", provider_ref="ch_none")


def failure(kind, **details):
    return {"error": {"type": kind, "message": "for the log only", **details}}


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ((None, None), OutcomeUnknown),
        ((500, failure("api_error")), OutcomeUnknown),
        ((503, {}), OutcomeUnknown),
        ((429, failure("rate_limit_error")), OutcomeUnknown),
        ((402, failure("card_error", code="card_declined")), CardDeclined),
        ((400, failure("idempotency_error")), GatewayError),
        ((400, failure("invalid_request_error")), GatewayError),
        ((401, failure("authentication_error")), GatewayError),
    ],
)
def test_errors_tell_refused_from_unknown(gateway, stub, answer, error):
    stub.answers = [answer]

    with pytest.raises(GatewayError) as caught:
        gateway.open_checkout(order())

    assert type(caught.value) is error
    assert len(stub.asked) == 1
    if error is GatewayError:
        assert "for the log only" not in str(caught.value)


def test_nobody_there_is_unknown():
    with pytest.raises(OutcomeUnknown):
        StripeGateway(api_url="http://127.0.0.1:9").open_checkout(order())


@pytest.mark.parametrize(
    ("key", "is_live"),
    [("sk_test_1", False), ("sk_live_1", True), ("rk_live_1", True)],
)
def test_key_says_whether_money_is_real(settings, key, is_live):
    settings.STRIPE_SECRET_KEY = key

    assert StripeGateway().is_live is is_live
    assert StripeGateway().name == "stripe"


def test_r25_lost_answer_then_second_try_credits_once(
    client, settings, stub, monkeypatch
):
    settings.PAYMENT_GATEWAY = "stripe"
    monkeypatch.setattr(StripeGateway.__init__, "__kwdefaults__", {"api_url": stub.url})
    checkout = {"id": "cs_test_9", "url": "https://checkout.stripe.com/c/9"}
    stub.answers = [(None, None), (200, checkout)]
    wallet = make_wallet()

    top_up = provider.pending(wallet, "40.00")
    assert top_up.status == TopUp.Status.UNKNOWN
    look_up_payments(at=NOON + timedelta(seconds=61))
    top_up.refresh_from_db()
    assert top_up.status == TopUp.Status.PENDING
    keys = {headers["Idempotency-Key"] for _, headers, _ in stub.asked}
    assert keys == {f"topup:{top_up.uuid}"}
    assert stub.asked[0][2] == stub.asked[1][2]
    for kind, body in [
        ("checkout.session.completed", provider.session(top_up)),
        ("payment_intent.succeeded", provider.intent(top_up)),
    ]:
        stub.answers = [(200, body)]
        content = provider.event(kind, body)
        payload = provider.json.dumps(content)
        header = stripe.WebhookSignature.generate_signature_header(
            payload, "whsec_test"
        )
        response = provider.post(
            client,
            payload.encode(),
            provider="stripe",
            HTTP_STRIPE_SIGNATURE=header,
        )
        assert response.status_code == 200

    assert balance(wallet.available_id) == 40
    assert not ProviderEvent.objects.exclude(state="DONE").exists()


@pytest.fixture(autouse=True)
def database(db):
    pass
