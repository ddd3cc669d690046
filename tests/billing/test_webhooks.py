import json
import threading
from decimal import Decimal

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse

from billing import webhooks
from billing.gateway import GatewayError, OutcomeUnknown
from billing.gateways.sandbox import SandboxGateway
from billing.models import ProviderEvent, TopUp, Transfer
from billing.services import payments
from billing.services.events import process_due
from tests.billing import provider
from tests.billing.conftest import balance, make_wallet

COMPLETED = "checkout.session.completed"
State = ProviderEvent.State


@pytest.fixture
def top_up(wallet):
    return provider.pending(wallet, "25.00")


@pytest.fixture
def paid(top_up):
    return provider.event(COMPLETED, provider.session(top_up), event_id="evt_1")


def assert_nothing_stored(wallet):
    assert not ProviderEvent.objects.exists()
    assert balance(wallet.available_id) == 0


def test_m1_r26_event_delivered_three_times_credits_once(client, paid, wallet):
    answers = [provider.post(client, paid).status_code for _ in range(3)]

    assert answers == [200, 200, 200]
    assert balance(wallet.available_id) == Decimal("25.00")
    assert Transfer.objects.count() == 1
    assert ProviderEvent.objects.get().state == State.DONE


@pytest.mark.django_db(transaction=True)
def test_m2_same_event_from_two_threads():
    wallet = make_wallet()
    top_up = provider.pending(wallet, "25.00")
    content = provider.event(COMPLETED, provider.session(top_up), event_id="evt_1")
    barrier, answers = threading.Barrier(2), []

    def deliver():
        barrier.wait()
        answers.append(provider.post(Client(), content).status_code)
        connection.close()

    threads = [threading.Thread(target=deliver) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert answers == [200, 200]
    assert ProviderEvent.objects.count() == 1
    assert balance(wallet.available_id) == Decimal("25.00")


def test_m3_r28_failure_half_way_leaves_nothing_and_redelivery_credits_once(
    client, paid, wallet, monkeypatch
):
    def fail(*_, **__):
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(payments, "queue_mail", fail)
        assert provider.post(client, paid).status_code == 500
    assert balance(wallet.available_id) == 0
    assert not Transfer.objects.exists()

    assert provider.post(client, paid).status_code == 200

    assert balance(wallet.available_id) == Decimal("25.00")
    assert Transfer.objects.count() == 1


@pytest.mark.parametrize(
    ("seconds", "status"),
    [(-301, 400), (-295, 200), (295, 200), (305, 400), (86400, 400)],
)
def test_signature_is_five_minutes_old_or_early_at_most(client, paid, seconds, status):
    assert provider.post(client, paid, seconds=seconds).status_code == status
    assert ProviderEvent.objects.exists() is (status == 200)


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param({"HTTP_STRIPE_SIGNATURE": ""}, id="no signature"),
        pytest.param({"HTTP_STRIPE_SIGNATURE": "t=abc,v1=00"}, id="no time"),
        pytest.param({"secret": "whsec_of_somebody_else"}, id="other secret"),
        pytest.param({"content_type": "text/plain"}, id="content type"),
        pytest.param({"content_type": "application/x-www-form-urlencoded"}, id="form"),
        pytest.param({"CONTENT_LENGTH": "many"}, id="length is no number"),
    ],
)
def test_refuses_request(client, paid, wallet, headers):
    assert provider.post(client, paid, **headers).status_code == 400
    assert_nothing_stored(wallet)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"\xff\xfe{}", id="not UTF-8"),
        pytest.param(b"not json", id="not JSON"),
        pytest.param(b"[]", id="array"),
        pytest.param(b"{}", id="no event"),
        pytest.param(b'{"id": 1, "type": "a", "data": {}}', id="id is no text"),
        pytest.param(b'{"id": "evt_1", "type": "a", "data": []}', id="data is a list"),
        pytest.param(b"[" * 100_000, id="nested without end"),
    ],
)
def test_refuses_signed_body(client, wallet, body):
    assert provider.post(client, body).status_code == 400
    assert_nothing_stored(wallet)


def test_refuses_a_re_serialised_body(client, paid, wallet):
    signed = json.dumps(paid).encode()
    header = provider.sign(signed, secret=provider.SECRET, at=provider.timezone.now())

    response = client.post(
        reverse("webhook", args=["sandbox"]),
        data=json.dumps(paid, indent=1),
        content_type="application/json",
        HTTP_STRIPE_SIGNATURE=header,
    )

    assert response.status_code == 400
    assert_nothing_stored(wallet)


def test_refuses_a_big_body_before_reading_it(client, wallet, monkeypatch):
    monkeypatch.setattr(webhooks, "verify", None)

    response = provider.post(client, b" " * (webhooks.LARGEST_BODY + 1))

    assert response.status_code == 413
    assert_nothing_stored(wallet)


@pytest.mark.parametrize("method", ["get", "head", "put", "patch", "delete"])
def test_accepts_post_only(client, db, method):
    response = getattr(client, method)(reverse("webhook", args=["sandbox"]))

    assert response.status_code == 405


def test_needs_no_csrf_token(paid, wallet):
    client = Client(enforce_csrf_checks=True)

    assert provider.post(client, paid).status_code == 200


@pytest.mark.parametrize(
    ("name", "value"),
    [("type", "invoice.finalized"), ("type", "something.new")],
)
def test_unknown_type_is_stored_and_answered(client, paid, wallet, name, value):
    assert provider.post(client, paid | {name: value}).status_code == 200
    assert ProviderEvent.objects.get().state == State.IGNORED
    assert balance(wallet.available_id) == 0


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"currency": "eur"}, id="M15 wrong currency"),
        pytest.param({"amount_total": 1}, id="wrong amount"),
    ],
)
def test_what_does_not_fit_is_stored_and_quarantined(client, top_up, wallet, changes):
    content = provider.event(COMPLETED, provider.session(top_up, **changes))

    assert provider.post(client, content).status_code == 200
    assert ProviderEvent.objects.get().state == State.QUARANTINED
    assert balance(wallet.available_id) == 0


def test_live_event_is_quarantined(client, top_up, wallet):
    content = provider.event(COMPLETED, provider.session(top_up), livemode=True)

    assert provider.post(client, content).status_code == 200
    assert ProviderEvent.objects.get().state == State.QUARANTINED
    assert balance(wallet.available_id) == 0


def test_unknown_provider_does_not_exist(client, paid, wallet):
    assert provider.post(client, paid, provider="paypal").status_code == 404
    assert_nothing_stored(wallet)


def test_sandbox_does_not_exist_where_money_is_real(client, paid, wallet, settings):
    settings.PAYMENT_GATEWAY = "stripe"

    assert provider.post(client, paid).status_code == 404
    assert_nothing_stored(wallet)


def test_stripe_does_not_exist_without_its_secrets(client, paid, wallet, settings):
    settings.STRIPE_WEBHOOK_SECRETS = []

    assert provider.post(client, paid, provider="stripe").status_code == 404
    assert_nothing_stored(wallet)


@pytest.mark.parametrize("secret", ["whsec_old", "whsec_new"])
def test_stripe_is_verified_with_both_secrets_during_a_roll(
    client, paid, settings, secret
):
    settings.STRIPE_WEBHOOK_SECRETS = ["whsec_new", "whsec_old"]
    settings.STRIPE_SECRET_KEY = "sk_test_x"

    response = provider.post(
        client, paid | {"type": "unknown"}, provider="stripe", secret=secret
    )

    assert response.status_code == 200
    assert ProviderEvent.objects.get().provider == "stripe"


def test_old_event_after_payment_is_the_payment_of_today(client, wallet):
    """
    "On its way" arrives late: by then the money is there.
    """
    top_up = provider.pending(wallet, "25.00")
    old = provider.session(top_up, payment_status="unpaid")
    content = provider.event(COMPLETED, old, truth=provider.session(top_up))

    assert provider.post(client, content).status_code == 200

    assert TopUp.objects.get().status == TopUp.Status.PAID
    assert balance(wallet.available_id) == Decimal("25.00")


@pytest.mark.parametrize(
    ("kind", "lie", "truth"),
    [
        (
            COMPLETED,
            provider.session,
            {"payment_status": "unpaid", "status": "open", "payment_intent": None},
        ),
        (
            "payment_intent.succeeded",
            provider.intent,
            {"status": "requires_action", "amount_received": 0},
        ),
    ],
)
def test_event_that_lies_credits_nothing(client, top_up, wallet, kind, lie, truth):
    body = lie(top_up)
    content = provider.event(kind, body, truth=body | truth)

    assert provider.post(client, content).status_code == 200

    assert ProviderEvent.objects.get().state == State.DONE
    assert TopUp.objects.get().status == TopUp.Status.PENDING
    assert balance(wallet.available_id) == 0


def test_amount_and_top_up_are_the_fetched_ones(client, wallet):
    small, large = provider.pending(wallet, "5.00"), provider.pending(wallet, "500.00")
    truth = provider.intent(small)
    lie = provider.intent(large, id=truth["id"])

    provider.post(client, provider.event("payment_intent.succeeded", lie, truth=truth))

    assert balance(wallet.available_id) == Decimal("5.00")
    assert {row.net.amount: row.status for row in TopUp.objects.all()} == {
        Decimal("5.00"): "PAID",
        Decimal("500.00"): "PENDING",
    }


def test_object_that_the_provider_does_not_know_waits_for_a_person(
    client, top_up, wallet
):
    content = provider.event(COMPLETED, provider.session(top_up))
    content["data"]["object"]["id"] = "cs_test_invented"

    assert provider.post(client, content).status_code == 200

    event = ProviderEvent.objects.get()
    assert event.state == State.QUARANTINED
    assert event.note == "The provider knows no checkout.session cs_test_invented."
    assert balance(wallet.available_id) == 0


@pytest.mark.parametrize(
    ("error", "status", "state"),
    [(OutcomeUnknown(), 200, "PARKED"), (GatewayError("No."), 500, "RECEIVED")],
    ids=["no answer", "refused"],
)
def test_provider_that_cannot_be_asked_is_asked_again(
    client, paid, wallet, monkeypatch, error, status, state
):
    def fail(*_, **__):
        raise error

    with monkeypatch.context() as broken:
        broken.setattr(SandboxGateway, "fetch", fail)
        assert provider.post(client, paid).status_code == status
    event = ProviderEvent.objects.get()
    assert event.state == state
    assert balance(wallet.available_id) == 0

    process_due(at=event.next_try_at)

    assert balance(wallet.available_id) == Decimal("25.00")
