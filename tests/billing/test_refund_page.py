from decimal import Decimal
from uuid import uuid4

import pytest
from django.urls import reverse

from billing.gateway import GatewayError
from billing.gateways import sandbox
from billing.gateways.sandbox import SandboxGateway
from billing.ledger import KeyReused
from billing.models import Refund, TopUp, Wallet
from billing.services import place_hold
from billing.views import refunds as views
from tests.billing import provider
from tests.billing.conftest import NOON, balance, usd
from tests.billing.top_up_steps import page_text


@pytest.fixture
def top_up(renter):
    """
    100.00 net and 19.00 VAT, paid on the sandbox's page.
    """
    wallet = Wallet.objects.get(user=renter, currency="USD")
    row = provider.pending(wallet, country="DE")
    reference = row.provider_ref.removeprefix("cs_test_")
    payment = sandbox.pay(reference=reference, at=NOON)
    provider.tell(
        "checkout.session.completed",
        provider.session_of(row, payment),
    )
    return TopUp.objects.get(pk=row.pk)


def url_of(top_up, name="refund"):
    return reverse(f"billing:{name}", args=[top_up.uuid])


def available(top_up):
    return balance(top_up.wallet.available_id)


def test_paid_top_up_offers_its_refund(renter_client, top_up):
    page = page_text(renter_client.get(top_up.get_absolute_url()))

    assert "Refund to the card" in page


def test_form_says_how_much_can_go_back(renter_client, top_up):
    place_hold(
        user_id=top_up.wallet.user_id,
        amount=usd(30),
        reference="workspace:1",
        key="1",
        at=NOON,
    )

    page = page_text(renter_client.get(url_of(top_up)))

    assert "Up to $70.00 of this top-up is unspent" in page


def test_confirm_page_repeats_net_vat_and_total(renter_client, top_up):
    response = renter_client.post(url_of(top_up), {"amount": "40,00", "key": uuid4()})

    page = page_text(response)
    assert (
        "Leaves your wallet $40.00 VAT 19% $7.60 Goes back to your card $47.60" in page
    )
    assert "Available after that $60.00" in page
    assert not Refund.objects.exists()


def test_two_clicks_are_one_refund(renter_client, top_up):
    sent = {"amount": "40.00", "key": str(uuid4())}

    for _ in range(2):
        response = renter_client.post(url_of(top_up, "refund_confirm"), sent)
        assert response.url == top_up.get_absolute_url()

    assert Refund.objects.count() == 1
    assert available(top_up) == Decimal("60.00")
    page = page_text(renter_client.get(top_up.get_absolute_url()))
    assert "$47.60 Refunded" in page
    assert "The refund is on its way to your card." in page


@pytest.mark.parametrize("amount", ["100.01", "0", "x", ""])
def test_amount_that_cannot_go_back(renter_client, top_up, amount):
    response = renter_client.post(url_of(top_up), {"amount": amount, "key": uuid4()})

    assert response.status_code == 422
    assert response.context["form"].errors["amount"]
    assert not Refund.objects.exists()


def test_tampered_confirmation_is_checked_again(renter_client, top_up):
    confirm = url_of(top_up, "refund_confirm")

    for sent in ({"amount": "100.01", "key": uuid4()}, {"amount": "1", "key": "x"}):
        assert renter_client.post(confirm, sent).url == url_of(top_up)

    assert not Refund.objects.exists()
    assert available(top_up) == Decimal("100.00")


def test_refusal_is_said(renter_client, top_up, monkeypatch):
    def refuse(**_):
        raise KeyReused("refund_payment", "1")

    monkeypatch.setattr(views, "refund_payment", refuse)
    sent = {"amount": "1.00", "key": uuid4()}
    response = renter_client.post(url_of(top_up, "refund_confirm"), sent, follow=True)

    assert "already done with other details" in page_text(response)


def test_failed_refund_is_said(renter_client, top_up, monkeypatch):
    def refuse(self, order):
        raise GatewayError("The card is closed.")

    monkeypatch.setattr(SandboxGateway, "refund", refuse)
    sent = {"amount": "40.00", "key": uuid4()}
    response = renter_client.post(url_of(top_up, "refund_confirm"), sent, follow=True)

    page = page_text(response)
    assert "The refund failed; the money is in your wallet." in page
    assert "Failed: The card is closed." in page
    assert available(top_up) == Decimal("100.00")


def test_nothing_to_refund_is_said(renter_client, top_up):
    place_hold(
        user_id=top_up.wallet.user_id,
        amount=usd(100),
        reference="workspace:1",
        key="1",
        at=NOON,
    )

    assert "Nothing can go back now" in page_text(renter_client.get(url_of(top_up)))
    page = page_text(renter_client.get(top_up.get_absolute_url()))
    assert "Refund to the card" not in page


def test_frozen_wallet_refunds_nothing(renter_client, top_up):
    Wallet.objects.filter(pk=top_up.wallet_id).update(frozen_at=NOON)

    assert "Nothing can go back now" in page_text(renter_client.get(url_of(top_up)))

    Wallet.objects.filter(pk=top_up.wallet_id).update(frozen_at=None)


@pytest.mark.parametrize("name", ["refund", "refund_confirm"])
def test_is_for_the_owner_of_a_paid_top_up(stranger_client, client, top_up, name):
    url = url_of(top_up, name)
    sent = {"amount": "1.00", "key": uuid4()}

    assert stranger_client.post(url, sent).status_code == 404
    assert client.post(url, sent).status_code == 302
    assert not Refund.objects.exists()


def test_unpaid_top_up_has_no_refund_page(renter_client, top_up):
    row = provider.pending(top_up.wallet, "10.00")

    assert renter_client.get(url_of(row)).status_code == 404


def test_confirming_is_post_only(renter_client, top_up):
    assert renter_client.get(url_of(top_up, "refund_confirm")).status_code == 405
