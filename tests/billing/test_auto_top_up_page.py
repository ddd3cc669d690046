"""
The page that switches automatic top-ups on and off.
"""

import pytest

from billing.gateway import GatewayError, OutcomeUnknown
from billing.gateways.sandbox import SandboxGateway
from billing.models import AutoTopUp, Card, Wallet
from billing.services import auto_top_ups as services
from tests.billing.conftest import make_wallet
from tests.billing.test_auto_top_up import URL, keep_card, order
from tests.billing.top_up_steps import page_text

FILLED = {"threshold": "10", "amount": "50,00", "monthly_cap": "120", "consent": "on"}


@pytest.fixture
def owner(renter):
    keep_card(renter.pk)
    return Wallet.objects.get(user=renter, currency="USD")


def test_page_switches_on_and_off(renter_client, owner):
    assert "Off. Nothing is charged" in page_text(renter_client.get(URL))

    page = page_text(renter_client.post(URL, FILLED, follow=True))
    assert "when less than $10.00 is available, $50.00 is topped up" in page
    assert AutoTopUp.objects.get().wallet == owner

    page = page_text(renter_client.post(f"{URL}off/", follow=True))
    assert "Automatic top-ups are off." in page
    assert not AutoTopUp.objects.get().is_on


@pytest.mark.parametrize(
    "changes",
    [{"consent": ""}, {"amount": "1"}, {"monthly_cap": "1"}, {"threshold": "x"}],
)
def test_page_refuses(renter_client, owner, changes):
    assert renter_client.post(URL, FILLED | changes).status_code == 422
    assert not AutoTopUp.objects.exists()


def test_page_without_a_card(renter_client):
    assert "No saved card" in page_text(renter_client.get(URL))
    assert renter_client.post(URL, FILLED).status_code == 422


def test_page_says_why_it_stopped(renter_client, owner):
    renter_client.post(URL, FILLED)
    AutoTopUp.objects.update(is_on=False, stop_reason="The card was declined.")

    page = page_text(renter_client.get(URL))

    assert "Stopped The card was declined." in page


def test_r1_removing_the_card_switches_off(renter_client, owner):
    renter_client.post(URL, FILLED)

    for _ in range(2):
        response = renter_client.post("/wallet/card/remove/", follow=True)
        assert "The card is removed." in page_text(response)

    assert not Card.objects.exists()
    assert not AutoTopUp.objects.get().is_on


@pytest.mark.parametrize(
    ("error", "kept", "message"),
    [
        (OutcomeUnknown(), True, "Please try again."),
        (GatewayError("No such card."), False, "The card is removed."),
    ],
)
def test_removing_a_card_that_the_provider_keeps(
    renter_client, owner, monkeypatch, error, kept, message
):
    def refuse(self, card_ref):
        raise error

    monkeypatch.setattr(SandboxGateway, "forget_card", refuse)
    response = renter_client.post("/wallet/card/remove/", follow=True)

    assert message in page_text(response)
    assert Card.objects.exists() is kept


def test_pages_are_ones_own(client, renter_client, stranger_client, owner):
    renter_client.post(URL, FILLED)

    stranger_client.post(f"{URL}off/")
    stranger_client.post("/wallet/card/remove/")

    assert AutoTopUp.objects.get().is_on
    assert Card.objects.exists()
    for url in (URL, f"{URL}off/", "/wallet/card/remove/"):
        assert client.post(url).status_code == 302
    assert renter_client.get("/wallet/JPY/auto/").status_code == 404
    assert renter_client.get(f"{URL}off/").status_code == 405
    assert renter_client.get("/wallet/card/remove/").status_code == 405


def test_other_currencies_have_their_own(renter, owner):
    eur = make_wallet(renter.email, "EUR")
    order(owner)

    assert services.auto_top_up_of(user_id=renter.pk, currency="EUR") is None
    assert not hasattr(eur, "auto_top_up")
