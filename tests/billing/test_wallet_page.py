import csv
import io
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
import time_machine
from django.urls import reverse

import clock
from billing.gateways import sandbox
from billing.models import Account, Charge, Hold, ProviderEvent, Transfer, Wallet
from billing.services import (
    bill_due,
    capture_hold,
    place_hold,
    release_hold,
    start_meter,
    stop_meter,
)
from billing.services.reconciliation import reconcile
from billing.services.statements import statement_of
from tests.billing import provider
from tests.billing.conftest import SUPPLIER, pay, usd
from tests.billing.top_up_steps import page_text

SEPTEMBER = datetime(2026, 9, 1, tzinfo=UTC)
OCTOBER = datetime(2026, 10, 1, tzinfo=UTC)
NOVEMBER = datetime(2026, 11, 1, tzinfo=UTC)
STATEMENT = "/wallet/USD/statement/"
HOUR = timedelta(hours=1)


@pytest.fixture
def usd_wallet(renter):
    return Wallet.objects.get(user=renter, currency="USD")


@pytest.fixture
def month(usd_wallet, renter):
    """
    100.00 in September; in October 20.00 in, 30.00 set aside of which three hours at
    2.50 and 45 minutes at 0.50 are used, the rest given back.
    """
    pay(usd_wallet, "100.00", key="september", at=OCTOBER - HOUR)
    pay(usd_wallet, "20.00", key="october", at=OCTOBER)
    start = OCTOBER + 10 * HOUR
    hold = place_hold(
        user_id=renter.pk,
        amount=usd("30.00"),
        reference="workspace:5f0e7a80-0000-4000-8000-000000000001",
        key="hold",
        at=start,
    )
    terms = {
        "hold_id": hold.id,
        "units": Decimal(1),
        "period_seconds": 3600,
        "payee": SUPPLIER,
        "fee_rate": Decimal("0.1"),
        "started_at": start,
    }
    compute = start_meter(
        name="compute", rate=usd("2.50"), ends_at=start + 3 * HOUR, key="c", **terms
    )
    start_meter(
        name="storage", rate=usd("0.50"), ends_at=start + HOUR * 3 / 4, key="s", **terms
    )
    bill_due(at=start + 4 * HOUR)
    stop_meter(meter_id=compute.id, at=start + 4 * HOUR)
    release_hold(hold_id=hold.id, at=start + 4 * HOUR, key="rest")


def read_csv(response):
    text = b"".join(response.streaming_content).decode()
    return list(csv.DictReader(io.StringIO(text)))


def test_statement_adds_up_to_the_cent(month, renter):
    found = statement_of(
        user_id=renter.pk, currency="USD", from_at=OCTOBER, to_at=NOVEMBER
    )

    # Three hours at 2.50, and 0.375 of storage, which is rounded to 0.38.
    assert found.opening == usd("100.00")
    assert found.money_in == usd("20.00")
    assert found.money_out == usd("-7.88")
    assert found.closing == usd("112.12")
    assert found.opening + found.money_in + found.money_out == found.closing
    assert [line.label for line in found.lines][:2] == ["Top-up", "Held"]
    assert found.lines[-1].label == "Given back"
    assert found.lines[-1].balance == found.lines[-1].available == usd("112.12")


def test_month_is_half_open(month, renter):
    september = statement_of(
        user_id=renter.pk, currency="USD", from_at=SEPTEMBER, to_at=OCTOBER
    )

    assert [line.amount for line in september.lines] == [usd("100.00")]
    assert september.closing == usd("100.00")


def test_m61_capture_is_subtracted_once(usd_wallet, renter):
    pay(usd_wallet, "20.00", key="in", at=OCTOBER)
    hold = place_hold(
        user_id=renter.pk, amount=usd(6), reference="workspace:1", key="h", at=OCTOBER
    )
    capture_hold(
        hold_id=hold.id,
        amount=usd(2),
        payee=SUPPLIER,
        fee_rate=Decimal(0),
        key="c",
        at=OCTOBER,
    )

    found = statement_of(
        user_id=renter.pk, currency="USD", from_at=OCTOBER, to_at=NOVEMBER
    )

    assert found.closing == usd("18.00")
    assert found.lines[-1].available == usd("14.00")


def test_statement_page(renter_client, month):
    response = renter_client.get(f"{STATEMENT}?month=2026-10")

    page = page_text(response)
    assert "Balance at the start $100.00" in page
    assert "Out -$7.88" in page
    assert "Balance at the end $112.12" in page
    assert "Workspace 5F0E7A" in page


def test_month_is_the_readers(renter_client, renter, usd_wallet):
    # 23:00 UTC on 30 September is 1 October in Madrid.
    pay(usd_wallet, "5.00", key="late", at=OCTOBER - HOUR)
    renter.time_zone = "Europe/Madrid"
    renter.save(update_fields=["time_zone"])

    context = renter_client.get(f"{STATEMENT}?month=2026-10").context

    assert context["statement"].money_in == usd("5.00")
    assert context["statement"].opening == usd(0)


@pytest.mark.parametrize("month", ["2026-13", "2026-1", "1999-01", "x", "٢٠٢٦-١٠"])
def test_month_that_is_none(renter_client, month):
    response = renter_client.get(STATEMENT, {"month": month})

    assert response.status_code == 404


def test_months_go_back_to_the_first(renter_client, renter):
    renter.date_joined = datetime(2025, 11, 30, tzinfo=UTC)
    renter.save(update_fields=["date_joined"])

    with time_machine.travel(datetime(2026, 2, 1, tzinfo=UTC)):
        response = renter_client.get(STATEMENT)

    months = [f"{day:%Y-%m}" for day in response.context["months"]]
    assert months == ["2026-02", "2026-01", "2025-12", "2025-11"]


def test_empty_month(renter_client):
    page = page_text(renter_client.get(f"{STATEMENT}?month=2026-01"))

    assert "Nothing moved in this month." in page
    assert "Balance at the end $0.00" in page


def test_unknown_wallet(renter_client):
    assert renter_client.get("/wallet/JPY/statement/").status_code == 404
    assert renter_client.get("/wallet/JPY/statement.csv").status_code == 404


def test_csv_has_numbers_that_add_up(renter_client, month):
    response = renter_client.get("/wallet/USD/statement.csv?month=2026-10")

    assert response["Content-Type"] == "text/csv; charset=utf-8"
    assert response["Content-Disposition"] == (
        'attachment; filename="statement-USD-2026-10.csv"'
    )
    rows = read_csv(response)
    assert sum(Decimal(row["Amount"]) for row in rows) == Decimal("12.12")
    assert rows[-1]["Balance"] == "112.12"
    assert rows[0]["Time (UTC)"] == "2026-10-01T00:00:00+00:00"
    assert {row["Currency"] for row in rows} == {"USD"}


def test_wallet_shows_every_currency(renter_client, month):
    page = page_text(renter_client.get("/wallet/"))

    for text in ("USD Available $112.12 Held $0.00", "EUR", "GBP", "Given back"):
        assert text in page
    assert "No top-up yet" in page


def test_r32_wallet_says_how_long_it_lasts(renter_client, renter, usd_wallet):
    pay(usd_wallet, "100.00", key="in", at=OCTOBER)
    hold = place_hold(
        user_id=renter.pk, amount=usd(60), reference="workspace:1", key="h", at=OCTOBER
    )
    terms = {
        "hold_id": hold.id,
        "payee": SUPPLIER,
        "fee_rate": Decimal("0.1"),
        "started_at": OCTOBER,
        "ends_at": OCTOBER + 20 * HOUR,
    }
    start_meter(
        name="compute", rate=usd("0.60"), units=Decimal(2), period_seconds=3600,
        key="c", **terms,
    )  # fmt: skip
    # 0.05 per GB-month of 730 hours, 584 GB: 0.04 an hour.
    start_meter(
        name="storage", rate=usd("0.05"), units=Decimal(584), period_seconds=2_628_000,
        key="s", **terms,
    )  # fmt: skip

    page = page_text(renter_client.get("/wallet/"))

    # 40.00 available at 1.24 an hour: 32.258 hours, 32 h 15 min.
    assert "Burns $1.24 an hour. What is available would last 32 h 15 min more." in page
    assert page.count("Burns") == 1


def test_wallet_shows_top_ups_with_their_state(renter_client, usd_wallet):
    provider.paid(usd_wallet, "100.00", country="FR")
    provider.pending(usd_wallet, "50.00", country="FR")
    provider.quote(usd_wallet, "10.00", country="FR")

    page = page_text(renter_client.get("/wallet/"))

    assert "$100.00 $120.00 Paid" in page
    assert "$50.00 $60.00 Waiting for payment" in page
    assert "$10.00" not in page


def test_wallet_of_a_currency(renter_client, usd_wallet, month):
    assert renter_client.get("/wallet/?currency=EUR").context["lines"] == []
    assert renter_client.get("/wallet/?currency=XXX").context["currency"] == "USD"


def test_person_without_wallets(client, django_user_model):
    person = django_user_model.objects.create_user("new@example.com")
    client.force_login(person)

    assert client.get("/wallet/").status_code == 200


def test_frozen_wallet_says_so(renter_client, usd_wallet):
    top_up = provider.paid(usd_wallet, "20.00")
    provider.tell("charge.dispute.created", provider.dispute(top_up, minor=2000))

    page = page_text(renter_client.get("/wallet/"))

    assert "Frozen" in page
    assert "Available $0.00" in page


def test_wallets_are_ones_own(stranger_client, month):
    page = page_text(stranger_client.get(f"{STATEMENT}?month=2026-10"))

    assert "Balance at the end $0.00" in page
    assert "Top-up" not in page


def test_number_of_queries_does_not_grow(
    renter_client, month, usd_wallet, django_assert_max_num_queries
):
    for number in range(20):
        pay(usd_wallet, "1.00", key=f"more-{number}", at=OCTOBER)

    for url in ("/wallet/", f"{STATEMENT}?month=2026-10"):
        with django_assert_max_num_queries(10):
            renter_client.get(url)


URLS = ["/wallet/", STATEMENT, "/wallet/USD/statement.csv", "/staff/books/"]


@pytest.mark.parametrize("url", URLS)
def test_needs_a_log_in(client, db, url):
    assert client.get(url).status_code == 302


@pytest.mark.parametrize("url", URLS)
def test_only_reads(staff_client, url):
    assert staff_client.post(url).status_code == 405


def test_books_are_for_staff(renter_client):
    assert renter_client.get("/staff/books/").status_code == 404


def test_books_are_right(staff_client, month):
    page = page_text(staff_client.get("/staff/books/"))

    assert "The books are right" in page
    assert "Available $112.12" in page
    assert "None: everything" in page


def test_books_show_faults_and_events_for_a_person(
    staff_client, usd_wallet, monkeypatch
):
    top_up = provider.pending(usd_wallet)
    provider.tell(
        "checkout.session.completed", provider.session(top_up, currency="eur")
    )
    monkeypatch.setattr("billing.views.staff.check_books", lambda: ["account 7 is off"])

    page = page_text(staff_client.get("/staff/books/"))

    assert "The books are wrong account 7 is off" in page
    assert "checkout.session.completed" in page
    assert ProviderEvent.objects.get().note in page


def test_books_stand_beside_the_providers(
    staff_client, usd_wallet, django_assert_max_num_queries
):
    top_up = provider.pending(usd_wallet)
    reference = top_up.provider_ref.removeprefix("cs_test_")
    payment = sandbox.pay(reference=reference, at=OCTOBER)
    provider.tell(
        "checkout.session.completed", provider.session_of(top_up, payment), at=OCTOBER
    )
    page = page_text(staff_client.get("/staff/books/"))
    assert "were not fetched in the last two nights" in page
    assert "sandbox $0.00 $100.00 -$100.00" in page

    reconcile(at=clock.now())

    with django_assert_max_num_queries(10):
        page = page_text(staff_client.get("/staff/books/"))
    assert "were not fetched" not in page
    # 1.75 is the provider's fee.
    assert "sandbox $98.25 $98.25 $0.00" in page


MODELS = [
    "account", "transfer", "wallet", "hold", "meter", "charge", "meterfault", "topup",
    "refund", "dispute", "providerevent", "providermovement", "walletevent",
    "billingprofile",
]  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
def test_admin_of_the_books_reads_only(staff_client, month, usd_wallet, model):
    top_up = provider.paid(usd_wallet, "20.00")
    provider.tell("charge.dispute.created", provider.dispute(top_up, minor=2000))
    provider.tell(
        "charge.dispute.closed", provider.dispute(top_up, minor=2000, status="won")
    )
    url = reverse(f"admin:billing_{model}_changelist")

    assert staff_client.get(url).status_code == 200
    assert staff_client.get(reverse(f"admin:billing_{model}_add")).status_code == 403
    counts = [rows.objects.count() for rows in (Account, Transfer, Hold, Charge)]
    first = staff_client.get(url).context["cl"].queryset.first()
    if first is not None:
        change = reverse(f"admin:billing_{model}_change", args=[first.pk])
        delete = reverse(f"admin:billing_{model}_delete", args=[first.pk])
        assert staff_client.get(change).status_code == 200
        assert staff_client.post(change, {"balance_0": "1"}).status_code == 403
        assert staff_client.post(delete, {"post": "yes"}).status_code == 403
    assert counts == [
        rows.objects.count() for rows in (Account, Transfer, Hold, Charge)
    ]


def test_staff_add_a_vat_rate(staff_client):
    response = staff_client.post(
        reverse("admin:billing_vatrate_add"),
        {
            "country": "FR",
            "rate": "21",
            "valid_from": "2027-01-01",
            "source": "Loi de finances",
            "as_of": "2026-12-01",
        },
    )

    assert response.status_code == 302
