"""
Who buys, as the top-up form asks it: country, business, VAT number.
"""

import pytest
from djmoney.money import Money

import clock
from billing.models import BillingProfile, TopUp, VatRate
from billing.services.profiles import CountryUnknown, save_profile
from billing.services.top_ups import TopUpRefused
from tests.billing import provider
from tests.billing.top_up_steps import BUSINESS, FILLED, URL, confirm_url, page_text


def test_business_gives_a_vat_number(renter_client, eur):
    renter_client.post(URL, FILLED | BUSINESS | {"vat_id": "61 954 506 077"})

    profile = BillingProfile.objects.get()
    assert profile.vat_id == "FR61954506077"
    assert profile.vat_id_status == "UNCHECKED"
    top_up = TopUp.objects.get()
    assert top_up.is_vat_pending
    assert top_up.vat == Money("20.00", "EUR")


def test_valid_number_reverses_the_charge(renter_client, eur):
    filled = FILLED | BUSINESS | {"vat_id": "FR61954506077"}
    renter_client.post(URL, filled)
    BillingProfile.objects.update(vat_id_status="VALID", vat_id_checked_at=clock.now())

    renter_client.post(URL, filled)

    top_up = TopUp.objects.latest("pk")
    assert top_up.vat == Money("0.00", "EUR")
    page = page_text(renter_client.get(confirm_url(top_up)))
    assert "VAT 0%" in page
    assert "Reverse charge" in page


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"vat_id": "DE136695976"}, "vat_id"),
        ({"vat_id": "FR00"}, "vat_id"),
        ({"name": ""}, "name"),
        ({"address": ""}, "address"),
        ({"country": "XX"}, "country"),
        ({"country": ""}, "country"),
    ],
)
def test_business_details_that_do_not_fit(renter_client, eur, changes, field):
    response = renter_client.post(
        URL, FILLED | BUSINESS | {"vat_id": "FR61954506077"} | changes
    )

    assert response.status_code == 422
    assert field in response.context["form"].errors
    assert not BillingProfile.objects.exists()


def test_private_customer_has_no_vat_number(renter_client, eur):
    renter_client.post(URL, FILLED | {"vat_id": "FR61954506077"})

    assert BillingProfile.objects.get().vat_id == ""


def test_form_remembers_the_billing_details(renter_client, draft):
    form = renter_client.get(URL).context["form"]

    assert form.initial["country"] == "FR"
    assert form.initial["currency"] == "USD"


def test_country_without_a_rate_is_not_sold_to(renter_client, eur):
    VatRate.objects.filter(country="FR").delete()

    response = renter_client.post(URL, FILLED)

    assert response.status_code == 422
    assert "We do not know the VAT rate" in page_text(response)
    assert not TopUp.objects.exists()


def test_outside_the_eu_there_is_no_vat_and_a_reason(renter_client, eur):
    renter_client.post(URL, FILLED | {"country": "US"})

    top_up = TopUp.objects.get()
    assert top_up.total == Money("100.00", "EUR")
    page = page_text(renter_client.get(confirm_url(top_up)))
    assert "your country is outside the EU and the UK" in page


def test_unknown_country_is_refused(renter):
    with pytest.raises(CountryUnknown):
        save_profile(user_id=renter.pk, country="XX")

    assert not BillingProfile.objects.exists()


def test_country_is_needed_first(eur):
    with pytest.raises(TopUpRefused):
        provider.start_top_up(
            user_id=eur.user_id,
            net=Money(100, "EUR"),
            email="renter@example.com",
            language="en",
            at=clock.now(),
        )

    assert not TopUp.objects.exists()
