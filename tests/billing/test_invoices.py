"""
Invoices: one per payment, numbered without a gap, with all fields of Article 226.
"""

import random
import threading
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from io import BytesIO

import pytest
from django.db import DatabaseError, connection, transaction
from django.utils import translation
from djmoney.money import Money
from pypdf import PdfReader

from billing import tasks
from billing.documents import invoice_pdf, statement_pdf
from billing.ledger import Busy
from billing.models import BillingProfile, Invoice, InvoiceSeries, Refund, TopUp, Wallet
from billing.services import capture_hold
from billing.services import invoices as services
from billing.services.invoices import credit_dispute, credit_refund, issue_due
from billing.services.invoices import issue_invoice as issue
from billing.services.rates import load_rates
from billing.services.statements import statement_of
from tests.billing import provider
from tests.billing.conftest import NOON, make_wallet, pay
from tests.billing.test_top_up import page_text

BUYER = {"is_business": True, "name": "Ma Société SARL", "address": "1 rue A, Paris"}


@pytest.fixture
def top_up(db):
    return provider.paid(make_wallet(currency="EUR"), country="FR", **BUYER)


def text_of(content):
    """
    Return what a reader sees in a PDF file.
    """
    pages = PdfReader(BytesIO(content)).pages
    return " ".join(" ".join(page.extract_text() for page in pages).split())


def test_invoice_says_what_article_226_asks_for(top_up):
    invoice = issue(top_up_id=top_up.pk, at=NOON)

    assert invoice.code == "INV-2026-000001"
    assert invoice.issued_at == NOON
    assert invoice.supplied_on == NOON.date()
    assert invoice.seller_name == "Corehour Demo GmbH"
    assert invoice.seller_address == "Beispielstraße 1, 10115 Berlin, Germany"
    assert invoice.seller_vat_id
    assert invoice.buyer_name == "Ma Société SARL"
    assert invoice.buyer_address == "1 rue A, Paris"
    assert invoice.buyer_country == "FR"
    assert invoice.net == Money("100.00", "EUR")
    assert invoice.vat_rate == Decimal("20.00")
    assert invoice.vat == Money("20.00", "EUR")
    assert invoice.total == Money("120.00", "EUR")


def test_m43_second_issue_finds_the_first(top_up):
    first = issue(top_up_id=top_up.pk, at=NOON)

    assert issue(top_up_id=top_up.pk, at=NOON + timedelta(hours=2)) == first
    assert Invoice.objects.count() == 1
    assert issue_due(at=NOON) == 0


def test_issues_what_is_due_and_nothing_else(wallet):
    paid = provider.paid(wallet, "20.00")
    provider.pending(wallet, "30.00")
    gift = provider.pending(wallet, "10.00")
    provider.tell(
        "checkout.session.completed",
        provider.session(
            gift,
            amount_total=0,
            payment_intent=None,
            payment_status="no_payment_required",
            total_details={"amount_discount": 1000},
        ),
    )

    assert issue_due(at=NOON) == 1

    assert Invoice.objects.get().top_up == paid


def test_private_customer_without_a_name_is_named_by_address(wallet):
    top_up = provider.paid(wallet, "20.00")

    assert issue(top_up_id=top_up.pk, at=NOON).buyer_name == "renter@example.com"


def test_buyer_who_moves_later_changes_no_invoice(top_up):
    invoice = issue(top_up_id=top_up.pk, at=NOON)
    BillingProfile.objects.update(name="Other", address="Elsewhere", country="DE")

    invoice.refresh_from_db()
    assert (invoice.buyer_name, invoice.buyer_country) == ("Ma Société SARL", "FR")


@pytest.mark.parametrize("verb", ["update", "delete"])
def test_database_refuses_to_change_an_invoice(top_up, verb):
    issue(top_up_id=top_up.pk, at=NOON)
    sql = {
        "update": "UPDATE billing_invoice SET net = 1",
        "delete": "DELETE FROM billing_invoice",
    }

    with pytest.raises(DatabaseError), transaction.atomic():
        connection.cursor().execute(sql[verb])

    assert Invoice.objects.get().net == Money("100.00", "EUR")


def test_each_year_begins_at_one(wallet):
    first, second = provider.paid(wallet, "20.00"), provider.paid(wallet, "20.00")

    issue(top_up_id=first.pk, at=datetime(2026, 12, 31, 23, 59, tzinfo=UTC))
    issue(top_up_id=second.pk, at=datetime(2027, 1, 1, tzinfo=UTC))

    codes = [row.code for row in Invoice.objects.order_by("pk")]
    assert codes == ["INV-2026-000001", "INV-2027-000001"]
    assert str(InvoiceSeries.objects.first()) == "INV-2026"


def test_refund_gets_a_credit_note_that_names_the_invoice(top_up):
    issue_due(at=NOON)
    provider.tell("charge.refunded", provider.charge(top_up, refunded=4800))

    assert issue_due(at=NOON + timedelta(days=1)) == 1
    assert issue_due(at=NOON + timedelta(days=1)) == 0

    note = Invoice.objects.get(kind="CN")
    assert note.code == str(note) == "CN-2026-000001"
    assert note.corrects == Invoice.objects.get(kind="INV")
    assert (note.net, note.vat) == (Money("40.00", "EUR"), Money("8.00", "EUR"))
    assert note.buyer_name == "Ma Société SARL"
    again = credit_refund(refund_id=Refund.objects.get().pk, at=NOON)
    assert again == note


def test_credit_note_waits_for_its_invoice(top_up):
    provider.tell("charge.refunded", provider.charge(top_up, refunded=4800))

    assert issue_due(at=NOON) == 2

    kinds = [row.kind for row in Invoice.objects.order_by("pk")]
    assert kinds == ["INV", "CN"]


@pytest.mark.parametrize(("status", "notes"), [("lost", 1), ("won", 0)])
def test_lost_dispute_gets_a_credit_note(top_up, status, notes):
    issue_due(at=NOON)
    body = provider.dispute(top_up, minor=12000, fee=0, status=status)
    provider.tell("charge.dispute.closed", body)

    assert issue_due(at=NOON) == notes

    for note in Invoice.objects.filter(kind="CN"):
        assert note.total == Money("120.00", "EUR")
        assert credit_dispute(dispute_id=note.dispute_id, at=NOON) == note


def test_one_that_fails_stops_no_other(wallet, monkeypatch, caplog):
    first, second = provider.paid(wallet, "20.00"), provider.paid(wallet, "30.00")
    real = services.issue_invoice

    def fail(*, top_up_id, at):
        if top_up_id == first.pk:
            raise Busy
        return real(top_up_id=top_up_id, at=at)

    monkeypatch.setattr(services, "issue_invoice", fail)
    assert issue_due(at=NOON) == 1

    assert Invoice.objects.get().top_up == second
    assert "could not be issued" in caplog.text
    monkeypatch.undo()
    tasks.issue_invoices()
    assert Invoice.objects.count() == 2


@pytest.mark.django_db(transaction=True)
def test_fifty_at_once_with_failures_leave_no_gap(monkeypatch):
    wallet = make_wallet()
    top_ups = [provider.paid(wallet, "5.00").pk for _ in range(50)]
    fails = set(random.Random(7).sample(top_ups, 20))
    real = Invoice.objects.create
    seen = set()

    def create(**content):
        invoice = real(**content)
        # A number was taken and a row written: the transaction still fails, once.
        pk = content["top_up"].pk
        if pk in fails and pk not in seen:
            seen.add(pk)
            raise DatabaseError
        return invoice

    monkeypatch.setattr(Invoice.objects, "create", create)

    def work(top_up_id):
        for _ in range(200):
            try:
                issue(top_up_id=top_up_id, at=NOON)
            except (DatabaseError, Busy):
                continue
            break
        connection.close()

    threads = [threading.Thread(target=work, args=[pk]) for pk in top_ups]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    numbers = sorted(Invoice.objects.values_list("number", flat=True))
    assert len(seen) == 20
    assert numbers == list(range(1, 51))


@pytest.mark.django_db(transaction=True)
def test_m44_eight_workers_issue_one():
    top_up = provider.paid(make_wallet(), "5.00")
    codes = []

    def work():
        codes.append(issue(top_up_id=top_up.pk, at=NOON).code)
        connection.close()

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert codes == ["INV-2026-000001"] * 8
    assert Invoice.objects.count() == 1


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", ["Seller", "Customer", "June 1, 2026", "€100.00", "€20.00", "€120.00"]),
        ("es", ["100,00 €", "20,00 €", "120,00 €", "Francia", "1 de junio de 2026"]),
        ("id", ["€100,00", "€20,00", "€120,00", "Prancis", "1 Juni 2026"]),
    ],
)
def test_pdf_is_in_the_customers_language(top_up, language, words):
    TopUp.objects.update(language=language)
    invoice = issue(top_up_id=top_up.pk, at=NOON)

    text = text_of(invoice_pdf(invoice))

    for word in ["INV-2026-000001", "Ma Société SARL", "Beispielstraße 1", *words]:
        assert word in text


def test_pdf_is_the_same_file_every_time(top_up):
    invoice = issue(top_up_id=top_up.pk, at=NOON)

    assert invoice_pdf(invoice) == invoice_pdf(invoice)


@pytest.mark.parametrize(
    ("country", "status", "words"),
    [
        ("FR", "VALID", ["Reverse charge", "Art. 196, 2006/112/EC", "VAT 0%"]),
        ("US", None, ["No VAT", "Art. 59, 2006/112/EC"]),
    ],
)
def test_pdf_says_why_there_is_no_vat(db, country, status, words):
    wallet = make_wallet(currency="EUR")
    details = BUYER | {"vat_id": "FR61954506077"} if status else {}
    if status:
        provider.quote(wallet, country=country, **details)
        BillingProfile.objects.update(vat_id_status=status, vat_id_checked_at=NOON)
    top_up = provider.paid(wallet, country=country, **details)

    text = text_of(invoice_pdf(issue(top_up_id=top_up.pk, at=NOON)))

    for word in words:
        assert word in text
    if status:
        assert "VAT number: FR61954506077" in text


def test_pdf_of_a_credit_note_names_the_invoice(top_up):
    issue_due(at=NOON)
    provider.tell("charge.refunded", provider.charge(top_up, refunded=12000))
    issue_due(at=NOON)

    text = text_of(invoice_pdf(Invoice.objects.get(kind="CN")))

    assert "Credit note CN-2026-000001" in text
    assert "Corrects invoice INV-2026-000001" in text


RATES = [
    "CURRENCY,CURRENCY_DENOM,TIME_PERIOD,OBS_VALUE",
    "USD,EUR,2026-06-01,1.2500",
    "GBP,EUR,2026-06-01,0.8000",
]


@pytest.mark.parametrize(
    ("currency", "country", "vat", "tax_currency", "tax_amount", "rate"),
    [
        # 1 USD is 0.8 EUR; 1 EUR is 0.8 GBP; 1 USD is 0.64 GBP.
        ("USD", "FR", "20.00", "EUR", "16.00", "0.800000"),
        ("EUR", "GB", "20.00", "GBP", "16.00", "0.800000"),
        ("USD", "GB", "20.00", "GBP", "12.80", "0.640000"),
        ("GBP", "GB", "20.00", "", None, None),
        ("EUR", "SE", "25.00", "", None, None),
        ("USD", "US", "0.00", "", None, None),
    ],
)
def test_vat_is_also_said_in_the_currency_of_the_country_that_gets_it(
    db, currency, country, vat, tax_currency, tax_amount, rate
):
    load_rates(lines=RATES)
    top_up = provider.paid(make_wallet(currency=currency), country=country)

    invoice = issue(top_up_id=top_up.pk, at=NOON)

    assert invoice.vat == Money(vat, currency)
    assert invoice.tax_currency == tax_currency
    assert invoice.tax_amount == (tax_amount and Decimal(tax_amount))
    assert invoice.exchange_rate == (rate and Decimal(rate))
    text = text_of(invoice_pdf(invoice))
    assert ("(ECB, June 1, 2026)" in text) is bool(tax_currency)


def test_invoice_waits_for_an_exchange_rate(wallet, caplog):
    provider.paid(wallet, country="FR")
    assert issue_due(at=NOON) == 0
    assert "could not be issued" in caplog.text
    assert not InvoiceSeries.objects.exists()

    load_rates(lines=RATES)

    assert issue_due(at=NOON) == 1
    assert Invoice.objects.get().number == 1


def test_names_in_other_scripts_and_markup_are_only_text(top_up):
    BillingProfile.objects.update(name="Ελληνικά Български <b>**x**</b> 会社")

    text = text_of(invoice_pdf(issue(top_up_id=top_up.pk, at=NOON)))

    assert "Ελληνικά Български <b>**x**</b>" in text


def test_statement_as_pdf(renter_client, renter):
    wallet = Wallet.objects.get(user=renter, currency="USD")
    pay(wallet, "12.50", key="june")

    response = renter_client.get("/wallet/USD/statement.pdf?month=2026-06")

    assert response["Content-Type"] == "application/pdf"
    assert response["Content-Disposition"] == (
        'attachment; filename="statement-USD-2026-06.pdf"'
    )
    text = text_of(response.content)
    for word in ("Statement USD 2026-06", "Balance at the end $12.50", "Top-up $12.50"):
        assert word in text


def test_statement_names_the_workspace_of_a_charge(wallet, hold):
    capture_hold(
        hold_id=hold.id,
        amount=Money("2.50", "USD"),
        payee="supplier:everxcloud",
        fee_rate=Decimal("0.1"),
        key="capture",
        at=NOON,
    )
    found = statement_of(
        user_id=wallet.user_id,
        currency="USD",
        from_at=NOON - timedelta(days=1),
        to_at=NOON + timedelta(days=1),
    )

    content = statement_pdf(
        found, currency="USD", month=NOON.date(), language="en", name="Renter"
    )

    assert "Charge 1 -$2.50" in text_of(content)


def test_long_statement_has_many_pages(wallet):
    for number in range(120):
        pay(wallet, "1.00", key=f"in-{number}")
    found = statement_of(
        user_id=wallet.user_id,
        currency="USD",
        from_at=NOON - timedelta(days=1),
        to_at=NOON + timedelta(days=1),
    )

    content = statement_pdf(
        found, currency="USD", month=NOON.date(), language="en", name="Renter"
    )

    assert text_of(content).count("Top-up $1.00") == 120
    assert "4/4" in text_of(content)
    assert len(PdfReader(BytesIO(content)).pages) == 4


@pytest.fixture
def own(renter):
    wallet = Wallet.objects.get(user=renter, currency="EUR")
    top_up = provider.paid(wallet, country="FR", **BUYER)
    return issue(top_up_id=top_up.pk, at=NOON)


def test_page_lists_the_invoices(renter_client, own):
    page = page_text(renter_client.get("/wallet/invoices/"))

    assert "INV-2026-000001" in page
    assert "€120.00" in page


def test_page_without_invoices(renter_client):
    assert "No invoice yet" in page_text(renter_client.get("/wallet/invoices/"))


def test_invoice_is_downloaded(renter_client, own):
    response = renter_client.get(own.get_absolute_url())

    assert response["Content-Type"] == "application/pdf"
    assert response["Content-Disposition"] == (
        'attachment; filename="INV-2026-000001.pdf"'
    )
    assert response.content.startswith(b"%PDF-")


def test_invoice_of_somebody_else_does_not_exist(
    client, stranger_client, staff_client, own
):
    url = own.get_absolute_url()

    assert stranger_client.get(url).status_code == 404
    assert staff_client.get(url).status_code == 404
    assert client.get(url).status_code == 302
    assert client.get("/wallet/invoices/").status_code == 302
    assert "INV" not in page_text(stranger_client.get("/wallet/invoices/"))


@pytest.mark.parametrize("code", ["INV-2026-000002", "INV-2025-000001", "x", "INV-1"])
def test_number_that_is_none(renter_client, own, code):
    assert renter_client.get(f"/wallet/invoices/{code}.pdf").status_code == 404


def test_translations_leave_the_reader_alone(own):
    with translation.override("es"):
        invoice_pdf(own)
        assert translation.get_language() == "es"
