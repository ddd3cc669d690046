"""
Confirming a top-up, paying it on the provider's page, coming back.
"""

from datetime import timedelta
from decimal import Decimal

import time_machine
from djmoney.money import Money

import clock
from billing.gateway import GatewayError, OutcomeUnknown
from billing.gateways import sandbox
from billing.gateways.sandbox import SandboxGateway
from billing.models import SandboxPayment, TopUp
from billing.services.janitor import look_up_payments
from billing.services.top_ups import confirm_top_up, open_checkout
from tests.billing.conftest import balance
from tests.billing.top_up_steps import confirm_url, hear, page_text, sandbox_url

Status = TopUp.Status


def test_confirming_goes_to_the_providers_page(renter_client, draft):
    response = renter_client.post(confirm_url(draft))

    top_up = TopUp.objects.get()
    payment = SandboxPayment.objects.get()
    assert response.url == top_up.checkout_url
    assert response.url.endswith(sandbox_url(top_up))
    assert top_up.status == Status.PENDING
    assert payment.total == Money("120.00", "EUR")
    assert payment.client_reference == str(top_up.uuid)
    assert payment.description == "Corehour prepaid balance: €100.00 plus VAT"


def test_r25_r27_confirming_twice_asks_for_one_payment(renter_client, draft):
    first = renter_client.post(confirm_url(draft))
    second = renter_client.post(confirm_url(draft))

    assert first.url == second.url
    assert SandboxPayment.objects.count() == 1
    assert TopUp.objects.count() == 1
    assert renter_client.get(confirm_url(draft)).url == draft.get_absolute_url()


def test_old_quote_is_refused(renter_client, draft):
    with time_machine.travel(clock.now() + timedelta(minutes=31)):
        response = renter_client.post(confirm_url(draft))

    assert response.status_code == 422
    assert "too old" in page_text(response)
    assert not SandboxPayment.objects.exists()


def test_return_page_before_the_webhook_promises_nothing(renter_client, pending, eur):
    renter_client.post(sandbox_url(pending, "sandbox_pay_now"))

    response = renter_client.get(pending.get_absolute_url())

    page = page_text(response)
    assert "Waiting for the payment" in page
    assert "Look again" in page
    assert 'hx-trigger="every 2s"' in response.content.decode()
    assert balance(eur.available_id) == 0


def test_m7_return_page_after_the_webhook_says_paid(renter_client, pending, eur):
    response = renter_client.post(sandbox_url(pending, "sandbox_pay_now"))
    assert response.url.endswith(pending.get_absolute_url())
    hear(pending)

    for _ in range(2):
        response = renter_client.get(pending.get_absolute_url())
        assert "€100.00 is in your wallet. Available now: €100.00." in page_text(
            response
        )

    assert "hx-get" not in response.content.decode()
    assert balance(eur.available_id) == Decimal("100.00")


def test_polling_swaps_the_state_only(renter_client, pending):
    response = renter_client.get(
        pending.get_absolute_url(), headers={"HX-Request": "true"}
    )

    assert response.content.decode().lstrip().startswith("<div")
    assert "<html" not in response.content.decode()
    assert "HX-Refresh" not in response


def test_polling_ends_with_a_new_page(renter_client, pending):
    renter_client.post(sandbox_url(pending, "sandbox_decline"))
    hear(pending)

    response = renter_client.get(
        pending.get_absolute_url(), headers={"HX-Request": "true"}
    )

    assert response["HX-Refresh"] == "true"


def test_declined_card(renter_client, pending, eur):
    renter_client.post(sandbox_url(pending, "sandbox_decline"))

    assert hear(pending).status == Status.FAILED
    page = page_text(renter_client.get(pending.get_absolute_url()))
    assert "The card was declined. Nothing was charged" in page
    assert balance(eur.available_id) == 0


def test_paying_later(renter_client, pending, eur):
    renter_client.post(sandbox_url(pending, "sandbox_pay_later"))
    assert hear(pending).status == Status.PROCESSING
    page = page_text(renter_client.get(pending.get_absolute_url()))
    assert "Your payment is on its way" in page
    assert balance(eur.available_id) == 0

    sandbox.settle_due(at=clock.now() + timedelta(seconds=11))

    assert hear(pending).status == Status.PAID
    assert balance(eur.available_id) == Decimal("100.00")


def test_paying_later_that_fails(renter_client, pending, eur):
    renter_client.post(sandbox_url(pending, "sandbox_fail_later"))
    hear(pending)

    sandbox.settle_due(at=clock.now() + timedelta(seconds=11))

    assert hear(pending).status == Status.FAILED
    page = page_text(renter_client.get(pending.get_absolute_url()))
    assert "The payment failed" in page
    assert balance(eur.available_id) == 0


def test_nobody_pays_within_the_hour(renter_client, pending):
    sandbox.settle_due(at=clock.now() + timedelta(minutes=59))
    assert hear(pending).status == Status.PENDING

    sandbox.settle_due(at=clock.now() + timedelta(minutes=61))

    assert hear(pending).status == Status.EXPIRED
    assert "Not paid" in page_text(renter_client.get(pending.get_absolute_url()))


def test_paid_payment_cannot_be_paid_again(renter_client, pending):
    renter_client.post(sandbox_url(pending, "sandbox_pay_now"))

    response = renter_client.post(sandbox_url(pending, "sandbox_decline"))

    assert response.status_code == 409
    assert "This payment has ended" in page_text(response)
    assert SandboxPayment.objects.get().state == SandboxPayment.State.PAID


def test_dead_broker_does_not_stop_a_payment(
    renter_client, pending, settings, django_capture_on_commit_callbacks, monkeypatch
):
    def fail(**_):
        raise ConnectionError

    monkeypatch.setattr("billing.tasks.run_sandbox.apply_async", fail)
    with django_capture_on_commit_callbacks(execute=True):
        response = renter_client.post(sandbox_url(pending, "sandbox_pay_now"))

    assert response.status_code == 302
    assert SandboxPayment.objects.get().deliveries.count() == 2


def test_sandbox_page_says_what_it_is(renter_client, pending):
    page = page_text(renter_client.get(sandbox_url(pending)))

    assert "Pay €120.00" in page
    assert "This is a sandbox" in page


def test_r25_lost_answer_is_found_by_asking_again(renter_client, draft, monkeypatch):
    real = SandboxGateway.open_checkout

    def lose(self, order):
        real(self, order)
        raise OutcomeUnknown

    monkeypatch.setattr(SandboxGateway, "open_checkout", lose)
    response = renter_client.post(confirm_url(draft))
    assert response.url == draft.get_absolute_url()
    assert TopUp.objects.get().status == Status.UNKNOWN
    page = page_text(renter_client.get(draft.get_absolute_url()))
    assert "Asking the payment provider" in page

    monkeypatch.setattr(SandboxGateway, "open_checkout", real)
    assert look_up_payments(at=clock.now() + timedelta(seconds=61)) == 1

    assert TopUp.objects.get().status == Status.PENDING
    assert SandboxPayment.objects.count() == 1


def test_provider_that_refuses_is_said(renter_client, draft, monkeypatch):
    def refuse(self, order):
        raise GatewayError("Closed for today.")

    monkeypatch.setattr(SandboxGateway, "open_checkout", refuse)

    renter_client.post(confirm_url(draft))

    assert TopUp.objects.get().status == Status.FAILED
    page = page_text(renter_client.get(draft.get_absolute_url()))
    assert "Closed for today." in page


def test_late_answer_does_not_undo_a_payment(renter_client, pending, monkeypatch):
    renter_client.post(sandbox_url(pending, "sandbox_pay_now"))
    hear(pending)

    def refuse(self, order):
        raise GatewayError("Too late.")

    monkeypatch.setattr(SandboxGateway, "open_checkout", refuse)
    open_checkout(top_up_id=pending.pk)

    assert TopUp.objects.get().status == Status.PAID


def test_confirming_what_is_confirmed_changes_nothing(pending):
    again = confirm_top_up(top_up_id=pending.pk, at=clock.now())

    assert again.status == Status.PENDING
    assert SandboxPayment.objects.count() == 1
