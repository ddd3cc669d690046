"""
Quoting a top-up: what is typed, how much, and the VAT on it.
"""

from datetime import timedelta

import pytest
import time_machine
from djmoney.money import Money

import clock
from billing.models import SandboxPayment, TopUp, Wallet
from tests.billing.conftest import balance
from tests.billing.top_up_steps import FILLED, URL, confirm_url, page_text

Status = TopUp.Status


def test_form_shows_what_is_asked(renter_client):
    response = renter_client.get(f"{URL}?currency=GBP")

    assert response.status_code == 200
    assert 'inputmode="decimal"' in response.content.decode()
    assert response.context["form"].initial["currency"] == "GBP"


def test_quote_repeats_net_vat_total_and_balance_after(renter_client, draft):
    page = page_text(renter_client.get(confirm_url(draft)))

    assert draft.status == Status.DRAFT
    for amount in ("€100.00", "VAT 20%", "€20.00", "Pay €120.00"):
        assert amount in page
    assert "Available now €0.00 Available after the payment €100.00" in page


def test_quoting_changes_no_money_and_calls_nobody(draft, eur):
    assert balance(eur.available_id) == 0
    assert not SandboxPayment.objects.exists()


@pytest.mark.parametrize(
    ("language", "typed", "net"),
    [
        ("en", "12.50", "12.50"),
        ("en", "12,50", "12.50"),
        ("es", "12,50", "12.50"),
        ("es", "12.50", "12.50"),
        ("id", "12,5", "12.50"),
        ("es", " 12 € ", "12.00"),
        ("en", "€12", "12.00"),
    ],
)
def test_amount_is_read_alike_in_every_language(
    renter_client, eur, language, typed, net
):
    path = URL if language == "en" else f"/{language}{URL}"

    renter_client.post(path, FILLED | {"amount": typed})

    assert TopUp.objects.get().net == Money(net, "EUR")


@pytest.mark.parametrize("language", ["en", "es", "id"])
@pytest.mark.parametrize(
    "typed",
    ["1.008", "1,008", "1.008,50", "1e3", "١٢", "-1", "NaN", "", "0", "0.001", "1 000",
     "<b>5</b>"],
)  # fmt: skip
def test_amount_that_is_not_understood_stays_in_the_form(
    renter_client, eur, language, typed
):
    path = URL if language == "en" else f"/{language}{URL}"

    response = renter_client.post(path, FILLED | {"amount": typed})

    assert response.status_code == 422
    assert response.context["form"]["amount"].value() == typed
    assert response.context["form"].errors["amount"]
    assert "<b>5</b>" not in response.content.decode()
    assert not TopUp.objects.exists()


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("4.99", "The smallest top-up is €5.00."),
        ("10000.01", "The largest top-up is €10,000.00."),
    ],
)
def test_amount_outside_the_limits(renter_client, eur, typed, message):
    response = renter_client.post(URL, FILLED | {"amount": typed})

    assert response.status_code == 422
    assert message in page_text(response)
    assert not TopUp.objects.exists()


@pytest.mark.parametrize("typed", ["5", "10000"])
def test_amount_at_the_limits(renter_client, eur, typed):
    assert renter_client.post(URL, FILLED | {"amount": typed}).status_code == 302


def test_m16_currency_that_is_not_on_never_reaches_the_provider(renter_client):
    response = renter_client.post(URL, FILLED | {"currency": "JPY"})

    assert response.status_code == 422
    assert not TopUp.objects.exists()


def test_daily_limit_counts_what_is_paid_or_may_be(renter_client, eur, settings):
    settings.TOP_UP_DAILY_LIMIT = 100
    renter_client.post(URL, FILLED | {"amount": "60"})
    renter_client.post(URL, FILLED | {"amount": "60"})
    first, second = TopUp.objects.order_by("pk")

    assert renter_client.post(confirm_url(first)).status_code == 302
    response = renter_client.post(confirm_url(second))

    assert response.status_code == 422
    assert "€40.00 of that is left" in page_text(response)
    second.refresh_from_db()
    assert second.status == Status.DRAFT
    assert renter_client.post(URL, FILLED | {"amount": "40.01"}).status_code == 422
    assert renter_client.post(URL, FILLED | {"amount": "40"}).status_code == 302


def test_daily_limit_opens_again_after_a_day(renter_client, eur, settings):
    settings.TOP_UP_DAILY_LIMIT = 100
    with time_machine.travel(clock.now(), tick=False) as travel:
        renter_client.post(URL, FILLED)
        renter_client.post(confirm_url(TopUp.objects.get()))
        assert renter_client.post(URL, FILLED).status_code == 422

        travel.shift(timedelta(hours=24))
        assert renter_client.post(URL, FILLED).status_code == 302


def test_extra_fields_change_nothing(renter_client, eur, stranger):
    extra = {
        "net": "1",
        "vat": "0",
        "total": "1",
        "vat_rate": "0",
        "vat_treatment": "OUTSIDE",
        "status": "PAID",
        "paid_at": "2026-01-01",
        "is_gift": "on",
        "user": stranger.pk,
        "wallet": Wallet.objects.get(user=stranger, currency="EUR").pk,
        "vat_id_status": "VALID",
    }

    renter_client.post(URL, FILLED | extra)
    top_up = TopUp.objects.get()
    renter_client.post(confirm_url(top_up), extra)

    top_up.refresh_from_db()
    assert top_up.wallet == eur
    assert top_up.total == Money("120.00", "EUR")
    assert top_up.status == Status.PENDING
    assert top_up.vat_treatment == "STANDARD"
