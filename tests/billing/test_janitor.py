"""
Payments whose event never came: the provider is asked, and asked again.
"""

from datetime import date, timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from post_office.models import Email

from billing import mails, tasks
from billing.gateway import OutcomeUnknown
from billing.gateways import sandbox
from billing.gateways.sandbox import SandboxGateway
from billing.models import SandboxPayment, TopUp, VatRate
from billing.services.janitor import look_up_payments
from tests.billing import provider
from tests.billing.conftest import NOON, balance

LATE = NOON + timedelta(minutes=11)
Status = TopUp.Status


@pytest.fixture
def top_up(wallet):
    return provider.pending(wallet)


@pytest.fixture
def reference(top_up):
    return top_up.provider_ref.removeprefix("cs_test_")


def status():
    return TopUp.objects.get().status


def test_payment_whose_events_were_all_lost_is_credited(top_up, reference):
    sandbox.pay(reference=reference, at=NOON)
    assert look_up_payments(at=NOON + timedelta(minutes=9)) == 0

    assert look_up_payments(at=LATE) == 1

    assert status() == Status.PAID
    assert balance(top_up.wallet.available_id) == Decimal("100.00")


def test_late_event_after_that_credits_nothing_more(top_up, reference):
    payment = sandbox.pay(reference=reference, at=NOON)
    look_up_payments(at=LATE)

    provider.tell(
        "checkout.session.completed",
        provider.session_of(top_up, payment),
        at=LATE,
    )

    assert balance(top_up.wallet.available_id) == Decimal("100.00")


def test_open_checkout_is_left_and_asked_after_every_ten_minutes(top_up):
    assert look_up_payments(at=LATE) == 1
    assert look_up_payments(at=LATE + timedelta(minutes=9)) == 0
    assert look_up_payments(at=LATE + timedelta(minutes=11)) == 1

    assert status() == Status.PENDING


def test_expired_checkout_is_closed(top_up, reference):
    SandboxPayment.objects.update(state="EXPIRED")

    look_up_payments(at=LATE)

    assert status() == Status.EXPIRED


def test_provider_that_does_not_answer_is_asked_again(top_up, monkeypatch):
    def lose(self, **_):
        raise OutcomeUnknown

    monkeypatch.setattr(SandboxGateway, "fetch", lose)

    look_up_payments(at=LATE)

    assert status() == Status.PENDING


def test_payment_that_does_not_fit_is_left_for_a_person(top_up, reference, caplog):
    sandbox.pay(reference=reference, at=NOON)
    SandboxPayment.objects.update(total=99)

    look_up_payments(at=LATE)

    assert status() == Status.PENDING
    assert balance(top_up.wallet.available_id) == 0
    assert "A top-up needs a person" in caplog.text


def test_old_quotes_go(wallet):
    provider.quote(wallet)

    look_up_payments(at=NOON + timedelta(hours=23))
    assert TopUp.objects.exists()
    look_up_payments(at=NOON + timedelta(hours=25))

    assert not TopUp.objects.exists()


def test_tasks_call_the_services(top_up, reference):
    sandbox.pay(reference=reference, at=NOON)

    tasks.process_events()
    tasks.look_up_payments()

    # NOON is long ago by the clock of the tasks.
    assert status() == Status.PAID


def test_address_that_mail_cannot_go_to_stops_no_money(wallet, caplog):
    top_up = provider.pending(wallet)
    TopUp.objects.update(email="nobody")

    provider.tell("checkout.session.completed", provider.session(top_up))

    assert status() == Status.PAID
    assert not Email.objects.exists()
    assert "Could not queue a mail" in caplog.text


def test_subject_is_one_line(db, monkeypatch):
    monkeypatch.setattr(mails, "render_to_string", lambda name, context: "a\nBcc: b")

    mails.queue_mail("any", to="renter@example.com", language="en")

    assert Email.objects.get().subject == "a Bcc: b"


def test_loading_vat_rates_adds_what_is_missing_and_keeps_staffs(db, capsys):
    VatRate.objects.filter(country="FR").delete()
    VatRate.objects.filter(country="DE").update(rate=Decimal("20"))

    call_command("load_vat_rates")
    call_command("load_vat_rates")

    printed = capsys.readouterr().out.splitlines()
    assert printed == ["1 VAT rates were added.", "0 VAT rates were added."]
    assert VatRate.objects.get(country="FR").rate == Decimal("20.00")
    assert VatRate.objects.get(country="DE").rate == Decimal("20.00")


@pytest.mark.parametrize(
    ("country", "day", "rate"),
    [
        ("EE", date(2025, 6, 30), "22.00"),
        ("EE", date(2025, 7, 1), "24.00"),
        ("RO", date(2025, 7, 31), "19.00"),
        ("RO", date(2025, 8, 1), "21.00"),
        ("FI", date(2026, 1, 1), "25.50"),
        ("GB", date(2026, 1, 1), "20.00"),
    ],
)
def test_m70b_rate_is_that_of_the_day(db, country, day, rate):
    assert VatRate.objects.on(day, country=country).rate == Decimal(rate)


def test_every_member_state_has_a_rate(db):
    assert VatRate.objects.values("country").distinct().count() == 28
    assert not VatRate.objects.filter(source="").exists()


def test_names_of_rows_say_what_they_are(top_up):
    payment = SandboxPayment.objects.get()

    assert str(payment) == "$100.00 Open"
    assert str(payment.deliveries.model(event_id="evt_1")) == "evt_1"
    assert str(VatRate(country="FR", rate=Decimal("20.00"))) == "FR 20.00 %"
    assert str(top_up) == "$100.00 Waiting for payment"
