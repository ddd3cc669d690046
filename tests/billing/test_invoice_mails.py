"""
The mail that announces a document, in the language of its reader.
"""

import pytest
from post_office.models import Email

from billing.mails import address_of
from billing.models import Invoice, TopUp
from billing.services.invoices import issue_due
from tests.billing import provider
from tests.billing.conftest import NOON, make_wallet


@pytest.fixture
def top_up(db):
    """
    100.00 and 20.00 VAT paid, and the mail about that sent.
    """
    top_up = provider.paid(make_wallet(currency="EUR"), country="FR")
    Email.objects.all().delete()
    return top_up


def test_invoice_is_sent_once_with_its_link(top_up, settings):
    for _ in range(2):
        issue_due(at=NOON)

    mail = Email.objects.get()
    assert mail.to == ["renter@example.com"]
    assert mail.subject == "Invoice INV-2026-000001"
    assert "your payment of €120.00, of which €20.00 is VAT" in mail.message
    link = f"{settings.SITE_URL}/wallet/invoices/INV-2026-000001.pdf"
    assert link in mail.message
    assert f'href="{link}"' in mail.html_message


def test_credit_note_names_the_invoice(top_up):
    issue_due(at=NOON)
    provider.tell("charge.refunded", provider.charge(top_up, refunded=4800))
    issue_due(at=NOON)

    mail = Email.objects.latest("pk")
    assert mail.subject == "Credit note CN-2026-000001"
    assert "€48.00 of invoice INV-2026-000001 went back" in mail.message
    assert "/wallet/invoices/CN-2026-000001.pdf" in mail.message


def test_is_written_in_the_language_of_the_customer(top_up):
    TopUp.objects.update(language="es")

    issue_due(at=NOON)

    mail = Email.objects.get()
    assert "120,00\N{NO-BREAK SPACE}€" in mail.message
    invoice = Invoice.objects.get()
    path = address_of(invoice.get_absolute_url, language="es")
    assert path in mail.message
    assert invoice.language == "es"
