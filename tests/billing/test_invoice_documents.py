"""
What an invoice says, on its page and as PDF, with all fields of Article 226.
"""

from datetime import timedelta
from decimal import Decimal
from io import BytesIO

import pytest
from django.utils import translation
from djmoney.money import Money
from pypdf import PdfReader

from billing.documents import invoice_pdf, statement_pdf
from billing.models import BillingProfile, Invoice, InvoiceSeries, TopUp, Wallet
from billing.services import capture_hold
from billing.services.invoices import issue_due
from billing.services.invoices import issue_invoice as issue
from billing.services.rates import load_rates
from billing.services.statements import statement_of
from tests.billing import provider
from tests.billing.conftest import NOON, make_wallet, pay
from tests.billing.top_up_steps import page_text

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


def statement_around_noon(wallet):
    found = statement_of(
        user_id=wallet.user_id,
        currency="USD",
        from_at=NOON - timedelta(days=1),
        to_at=NOON + timedelta(days=1),
    )
    return statement_pdf(
        found, currency="USD", month=NOON.date(), language="en", name="Renter"
    )


def test_statement_names_the_workspace_of_a_charge(wallet, hold):
    capture_hold(
        hold_id=hold.id,
        amount=Money("2.50", "USD"),
        payee="supplier:everxcloud",
        fee_rate=Decimal("0.1"),
        key="capture",
        at=NOON,
    )

    content = statement_around_noon(wallet)

    assert "Charge 1 -$2.50" in text_of(content)


def test_long_statement_has_many_pages(wallet):
    for number in range(120):
        pay(wallet, "1.00", key=f"in-{number}")

    content = statement_around_noon(wallet)

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
