"""
What stands on the documents: invoices, credit notes and monthly statements.
"""

from datetime import UTC, date

from django.utils import translation
from django.utils.translation import gettext as _
from djmoney.money import Money

import formats
from billing import countries
from billing.models import Invoice
from billing.pdf import BRAND, SOFT, Document
from billing.services.statements import Line, Statement
from billing.tax import REASONS, Treatment

LEGAL_NOTES = {
    Treatment.STANDARD: "",
    Treatment.REVERSE_CHARGE: "Art. 196, 2006/112/EC",
    Treatment.OUTSIDE: "Art. 59, 2006/112/EC",
}


def invoice_pdf(invoice: Invoice) -> bytes:
    """
    Return the invoice or credit note as a PDF file in the customer's language.
    """
    language = invoice.language
    with translation.override(language):
        title = f"{invoice.get_kind_display()} {invoice.code}"
        page = Document(title=title, language=language, at=invoice.issued_at)
        page.line_of(invoice.seller_name, size=11, is_bold=True, color=BRAND, gap=4)
        page.line_of(title, size=18, is_bold=True, gap=4)
        page.columns(_seller(invoice), _buyer(invoice, language))
        page.pairs(_dates(invoice, language))
        page.rule()
        page.pairs(_amounts(invoice, language))
        page.rule()
        total = formats.money(invoice.total, language)
        page.pairs([(_("Total"), total)], is_total=True)
        page.ln(6)
        for note in _notes(invoice):
            page.line_of(note, size=9, color=SOFT)
        return page.file()


def statement_pdf(
    statement: Statement, *, currency: str, month: date, language: str, name: str
) -> bytes:
    """
    Return the statement of a month as a PDF file.
    """
    with translation.override(language):
        title = _("Statement %(currency)s %(month)s") % {
            "currency": currency,
            "month": f"{month:%Y-%m}",
        }
        page = Document(title=title, language=language, at=statement.to_at)
        page.line_of(title, size=18, is_bold=True, gap=2)
        page.line_of(name, color=SOFT, gap=4)
        page.pairs(
            [
                (_("Balance at the start"), formats.money(statement.opening, language)),
                (_("In"), formats.money(statement.money_in, language)),
                (_("Out"), formats.money(statement.money_out, language)),
            ]
        )
        page.rule()
        closing = formats.money(statement.closing, language)
        page.pairs([(_("Balance at the end"), closing)], is_total=True)
        page.rule()
        page.pairs([_row(line, language) for line in statement.lines if line.amount])
        page.ln(4)
        page.line_of(
            _("Amounts are without tax. Times are in UTC."), size=9, color=SOFT
        )
        return page.file()


def _row(line: Line, language: str) -> tuple[str, str]:
    what = f"{line.at:%Y-%m-%d %H:%M}  {line.label}"
    kind, name = line.subject
    if kind == "workspace":
        what = f"{what}  {name[:8]}"
    return what, formats.money(line.amount, language)


def _seller(invoice: Invoice) -> str:
    vat_id = _("VAT number: %s") % invoice.seller_vat_id
    return "\n".join([_("Seller"), invoice.seller_name, invoice.seller_address, vat_id])


def _buyer(invoice: Invoice, language: str) -> str:
    lines = [
        _("Customer"),
        invoice.buyer_name,
        invoice.buyer_address,
        countries.name(invoice.buyer_country, language=language),
        _("VAT number: %s") % invoice.buyer_vat_id if invoice.buyer_vat_id else "",
    ]
    return "\n".join(line for line in lines if line)


def _dates(invoice: Invoice, language: str) -> list[tuple[str, str]]:
    rows = [
        (_("Number"), invoice.code),
        (_("Date"), formats.day(invoice.issued_at, language, UTC)),
        (_("Date of supply"), formats.day(invoice.supplied_on, language, UTC)),
    ]
    if invoice.corrects is not None:
        rows.append((_("Corrects invoice"), invoice.corrects.code))
    return rows


def _amounts(invoice: Invoice, language: str) -> list[tuple[str, str]]:
    net = formats.money(invoice.net, language)
    rate = formats.percent(invoice.vat_rate / 100, language)
    what = _("Prepaid balance for renting GPUs by the hour, 1 × %s") % net
    rows = [
        (what, net),
        (_("Taxable amount at %s") % rate, net),
        (_("VAT %s") % rate, formats.money(invoice.vat, language)),
    ]
    if invoice.exchange_rate is not None and invoice.exchanged_on is not None:
        label = _("VAT in %(currency)s, at %(rate)s (ECB, %(day)s)") % {
            "currency": invoice.tax_currency,
            "rate": formats.number(invoice.exchange_rate, language, 6),
            "day": formats.day(invoice.exchanged_on, language, UTC),
        }
        in_tax_currency = Money(invoice.tax_amount, invoice.tax_currency)
        rows.append((label, formats.money(in_tax_currency, language)))
    return rows


def _notes(invoice: Invoice) -> list[str]:
    treatment = Treatment(invoice.vat_treatment)
    if treatment == Treatment.STANDARD:
        return []
    return [f"{REASONS[treatment]} {LEGAL_NOTES[treatment]}"]
