"""
Disputes in the demo: whoever paid plays the bank.
"""

import pytest

from billing.models import Dispute, SandboxPayment, Wallet
from billing.services.refunds import refund_payment
from tests.billing.conftest import NOON, balance
from tests.billing.top_up_steps import hear, page_text, sandbox_url


@pytest.fixture
def paid(renter_client, pending):
    renter_client.post(sandbox_url(pending, "sandbox_pay_now"))
    return hear(pending)


def press(client, top_up, name):
    response = client.post(sandbox_url(top_up, name))
    if response.status_code == 302:
        hear(top_up)
    return response.status_code


@pytest.mark.parametrize(
    ("name", "status", "left", "is_frozen"),
    [("won", "WON", 100, False), ("lost", "LOST", 0, True)],
)
def test_payment_is_disputed_and_decided(
    renter_client, paid, eur, name, status, left, is_frozen
):
    page = page_text(renter_client.get(paid.get_absolute_url()))
    assert "To the sandbox's page of this payment" in page.replace("&#x27;", "'")
    assert "Dispute this payment" in page_text(renter_client.get(sandbox_url(paid)))

    assert press(renter_client, paid, "sandbox_dispute") == 302
    assert balance(eur.available_id) == 0
    assert "Decide the dispute" in page_text(renter_client.get(sandbox_url(paid)))
    assert press(renter_client, paid, f"sandbox_dispute_{name}") == 302

    assert "The dispute is decided." in page_text(renter_client.get(sandbox_url(paid)))
    assert Dispute.objects.get().status == status
    assert balance(eur.available_id) == left
    assert (Wallet.objects.get(pk=eur.pk).frozen_at is not None) is is_frozen


def test_each_step_is_taken_once_and_in_order(renter_client, paid, eur):
    assert press(renter_client, paid, "sandbox_dispute_won") == 409
    assert press(renter_client, paid, "sandbox_dispute") == 302
    assert press(renter_client, paid, "sandbox_dispute") == 409

    assert SandboxPayment.objects.get().dispute_status == "needs_response"
    assert balance(eur.available_id) == 0


def test_what_was_refunded_cannot_be_disputed(renter_client, paid):
    refund_payment(top_up_id=paid.pk, net=paid.net, key="1", at=NOON)

    assert "Dispute" not in page_text(renter_client.get(sandbox_url(paid)))
    assert press(renter_client, paid, "sandbox_dispute") == 409

    assert not SandboxPayment.objects.get().dispute_status


def test_what_was_not_paid_cannot_be_disputed(renter_client, pending):
    assert press(renter_client, pending, "sandbox_dispute") == 409

    assert not SandboxPayment.objects.get().dispute_status
