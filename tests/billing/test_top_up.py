"""
Top-ups in the browser's words: form, confirm page, provider, return page.
"""

import re
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
import time_machine
from django.urls import reverse
from djmoney.money import Money

import clock
from billing.gateway import GatewayError, OutcomeUnknown
from billing.gateways import sandbox
from billing.gateways.sandbox import SandboxGateway
from billing.models import BillingProfile, SandboxPayment, TopUp, VatRate, Wallet
from billing.services.events import process_event
from billing.services.janitor import look_up_payments
from billing.services.profiles import CountryUnknown, save_profile
from billing.services.top_ups import TopUpRefused, confirm_top_up, open_checkout
from tests.billing import provider
from tests.billing.conftest import balance

URL = "/wallet/top-up/"
FILLED = {"amount": "100.00", "currency": "EUR", "country": "FR"}
Status = TopUp.Status


def page_text(response):
    text = re.sub(r"<[^>]+>", " ", response.content.decode())
    return " ".join(text.split())


@pytest.fixture
def eur(renter):
    return Wallet.objects.get(user=renter, currency="EUR")


@pytest.fixture
def draft(renter_client, eur):
    renter_client.post(URL, FILLED)
    return TopUp.objects.get()


def confirm_url(top_up):
    return reverse("billing:top_up_confirm", args=[top_up.uuid])


@pytest.fixture
def pending(renter_client, draft):
    renter_client.post(confirm_url(draft))
    return TopUp.objects.get()


def sandbox_url(top_up, name="sandbox_pay"):
    return reverse(
        f"billing:{name}", args=[top_up.provider_ref.removeprefix("cs_test_")]
    )


def hear(top_up):
    """
    Let the site hear every event that the sandbox has to tell, signed, over HTTP.
    """
    for row in SandboxPayment.objects.get().deliveries.order_by("pk"):
        event = provider.json.loads(row.body)
        stored = provider.store_event(
            provider="sandbox",
            body=row.body,
            event_id=event["id"],
            kind=event["type"],
            at=clock.now(),
        )
        process_event(event_id=stored.pk, at=clock.now())
    return TopUp.objects.get(pk=top_up.pk)


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


def test_r25_confirming_twice_asks_for_one_payment(renter_client, draft):
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


BUSINESS = {"is_business": "on", "name": "Ma Société", "address": "1 rue A, Paris"}


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


def test_confirming_what_is_confirmed_changes_nothing(pending):
    again = confirm_top_up(top_up_id=pending.pk, at=clock.now())

    assert again.status == Status.PENDING
    assert SandboxPayment.objects.count() == 1


NAMES = ["top_up_confirm", "top_up_status"]


@pytest.mark.parametrize("name", NAMES)
def test_top_up_of_somebody_else_does_not_exist(stranger_client, pending, name):
    url = reverse(f"billing:{name}", args=[pending.uuid])

    assert stranger_client.get(url).status_code == 404
    assert stranger_client.post(url).status_code in {404, 405}
    assert TopUp.objects.get().status == Status.PENDING


@pytest.mark.parametrize(
    "name",
    ["sandbox_pay", "sandbox_pay_now", "sandbox_decline", "sandbox_pay_later",
     "sandbox_fail_later"],
)  # fmt: skip
def test_sandbox_payment_of_somebody_else_does_not_exist(
    stranger_client, client, pending, name
):
    url = sandbox_url(pending, name)
    method = "get" if name == "sandbox_pay" else "post"

    assert getattr(stranger_client, method)(url).status_code == 404
    assert getattr(client, method)(url).status_code == 302
    assert SandboxPayment.objects.get().state == SandboxPayment.State.OPEN


@pytest.mark.parametrize(
    "name",
    ["sandbox_pay_now", "sandbox_decline", "sandbox_pay_later", "sandbox_fail_later"],
)
def test_sandbox_verbs_are_post_only(renter_client, pending, name):
    assert renter_client.get(sandbox_url(pending, name)).status_code == 405
    assert SandboxPayment.objects.get().state == SandboxPayment.State.OPEN


def test_sandbox_does_not_exist_where_money_is_real(renter_client, pending, settings):
    url = sandbox_url(pending)
    settings.PAYMENT_GATEWAY = "stripe"

    assert renter_client.get(url).status_code == 404


def test_unknown_sandbox_payment(renter_client, db):
    url = reverse("billing:sandbox_pay", args=[uuid4().hex])

    assert renter_client.get(url).status_code == 404


def test_sandbox_payment_without_a_top_up(renter_client, pending):
    SandboxPayment.objects.update(client_reference="not-a-uuid")

    assert renter_client.get(sandbox_url(pending)).status_code == 404


def test_pages_are_for_people_who_are_logged_in(client, pending):
    for url in (URL, confirm_url(pending), pending.get_absolute_url()):
        response = client.get(url)
        assert response.status_code == 302
        assert response.url.startswith("/account/login/")


def test_wrong_methods(renter_client, pending):
    assert renter_client.put(URL).status_code == 405
    assert renter_client.delete(confirm_url(pending)).status_code == 405
    assert renter_client.post(pending.get_absolute_url()).status_code == 405


def test_draft_is_confirmed_before_it_has_a_state(renter_client, draft):
    response = renter_client.get(draft.get_absolute_url())

    assert response.url == confirm_url(draft)
