"""
Invoices for what was paid, credit notes for what went back.

They are issued by a task after the money has moved, each in a transaction of its own:
a document that cannot be written never holds a payment up, and leaves no gap.
"""

import logging
import re
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.db import DatabaseError, transaction
from djmoney.money import Money

from billing.ledger import Busy, retry_conflicts
from billing.mails import address_of, queue_mail
from billing.models import (
    BillingProfile,
    Dispute,
    Invoice,
    InvoiceSeries,
    Refund,
    TopUp,
)
from billing.services.profiles import profile_of
from billing.services.rates import NoExchangeRate, convert
from billing.tax import taxing_country
from money import round_half_up

logger = logging.getLogger(__name__)
Kind = Invoice.Kind

DOCUMENTS_A_RUN = 200
CODE = re.compile(r"(INV|CN)-([0-9]{4})-([0-9]{6,9})", re.ASCII)


def invoices_of(*, user_id: int) -> list[Invoice]:
    """
    Return the user's invoices and credit notes, the newest first.
    """
    return list(Invoice.objects.filter(user_id=user_id).order_by("-issued_at", "-pk"))


def find_invoice(*, user_id: int, code: str) -> Invoice | None:
    """
    Return the user's own document with this number, or None.
    """
    match = CODE.fullmatch(code)
    if match is None:
        return None
    rows = Invoice.objects.filter(user_id=user_id).select_related("corrects")
    return rows.filter(kind=match[1], year=match[2], number=match[3]).first()


def issue_due(*, at: datetime) -> int:
    """
    Issue every document that is due and return how many were.

    One that cannot be written is logged and does not stop the others.
    """
    issued = 0
    paid = TopUp.objects.filter(
        status=TopUp.Status.PAID, is_gift=False, invoices__isnull=True
    )
    for top_up_id in _ids(paid):
        issued += _try(issue_invoice, top_up_id=top_up_id, at=at)
    gone_back = Refund.objects.filter(
        status=Refund.Status.DONE,
        credit_note__isnull=True,
        top_up__invoices__kind=Kind.INVOICE,
    )
    for refund_id in _ids(gone_back):
        issued += _try(credit_refund, refund_id=refund_id, at=at)
    lost = Dispute.objects.filter(
        status=Dispute.Status.LOST,
        credit_note__isnull=True,
        top_up__invoices__kind=Kind.INVOICE,
    )
    for dispute_id in _ids(lost):
        issued += _try(credit_dispute, dispute_id=dispute_id, at=at)
    return issued


@retry_conflicts
@transaction.atomic
def issue_invoice(*, top_up_id: int, at: datetime) -> Invoice:
    """
    Issue the invoice of a paid top-up, or find it issued already.
    """
    rows = TopUp.objects.select_for_update(of=("self",)).select_related("wallet")
    top_up = rows.get(pk=top_up_id, status=TopUp.Status.PAID, is_gift=False)
    if known := _invoice_of(top_up):
        return known
    assert top_up.paid_at is not None
    return _write(
        Kind.INVOICE,
        top_up,
        at=at,
        supplied_on=top_up.paid_at.date(),
        net=top_up.net,
        vat=top_up.vat,
        total=top_up.total,
        **_parties(top_up),
    )


@retry_conflicts
@transaction.atomic
def credit_refund(*, refund_id: int, at: datetime) -> Invoice:
    """
    Issue the credit note of a refund, or find it issued already.
    """
    refund = Refund.objects.select_for_update(of=("self",)).get(
        pk=refund_id, status=Refund.Status.DONE
    )
    if known := Invoice.objects.filter(refund=refund).first():
        return known
    on = (refund.closed_at or refund.created_at).date()
    return _credit(refund, refund.top_up, on=on, at=at, refund=refund)


@retry_conflicts
@transaction.atomic
def credit_dispute(*, dispute_id: int, at: datetime) -> Invoice:
    """
    Issue the credit note of a payment that was lost to the customer's bank.
    """
    dispute = Dispute.objects.select_for_update(of=("self",)).get(
        pk=dispute_id, status=Dispute.Status.LOST
    )
    if known := Invoice.objects.filter(dispute=dispute).first():
        return known
    on = (dispute.closed_at or dispute.opened_at).date()
    return _credit(dispute, dispute.top_up, on=on, at=at, dispute=dispute)


def _invoice_of(top_up: TopUp) -> Invoice | None:
    return Invoice.objects.filter(top_up=top_up, kind=Kind.INVOICE).first()


def _credit(
    gone_back: Refund | Dispute,
    top_up: TopUp,
    *,
    on: date,
    at: datetime,
    **cause: Refund | Dispute,
) -> Invoice:
    corrects = Invoice.objects.get(top_up=top_up, kind=Kind.INVOICE)
    names = ("name", "address", "country", "vat_id")
    buyer = {f"buyer_{name}": getattr(corrects, f"buyer_{name}") for name in names}
    return _write(
        Kind.CREDIT_NOTE,
        top_up,
        at=at,
        corrects=corrects,
        supplied_on=on,
        net=gone_back.net,
        vat=gone_back.vat,
        total=gone_back.total,
        **buyer,
        **cause,
    )


def _write(
    kind: Kind, top_up: TopUp, *, at: datetime, vat: Money, **content: Any
) -> Invoice:
    invoice = Invoice.objects.create(
        vat=vat,
        **_in_tax_currency(top_up, vat, at=at),
        kind=kind,
        year=at.year,
        number=_next_number(kind, year=at.year),
        user_id=top_up.wallet.user_id,
        top_up=top_up,
        issued_at=at,
        seller_name=settings.SELLER_NAME,
        seller_address=settings.SELLER_ADDRESS,
        seller_vat_id=settings.SELLER_VAT_ID,
        vat_rate=top_up.vat_rate,
        vat_treatment=top_up.vat_treatment,
        language=top_up.language,
        **content,
    )
    _send(invoice, to=top_up.email)
    return invoice


def _send(invoice: Invoice, *, to: str) -> None:
    queue_mail(
        "credit_note" if invoice.kind == Kind.CREDIT_NOTE else "invoice",
        to=to,
        language=invoice.language,
        invoice=invoice,
        link=address_of(invoice.get_absolute_url, language=invoice.language),
    )


def _in_tax_currency(top_up: TopUp, vat: Money, *, at: datetime) -> dict[str, Any]:
    """
    Return the VAT in the currency of the country that gets it, if that is another.

    :raises billing.services.rates.NoExchangeRate: if no day's rates are known
    """
    currency = "GBP" if taxing_country(top_up.country) == "GB" else "EUR"
    if not vat or str(vat.currency) == currency:
        return {}
    converted = convert(amount=vat, currency=currency, at=at)
    return {
        "tax_currency": currency,
        "tax_amount": round_half_up(converted.amount.amount),
        "exchange_rate": converted.rate,
        "exchanged_on": converted.as_of.date(),
    }


def _parties(top_up: TopUp) -> dict[str, str]:
    """
    Return who buys: the details given, and what the tax was decided from.
    """
    profile = profile_of(user_id=top_up.wallet.user_id) or BillingProfile()
    return {
        "buyer_name": profile.name or top_up.email,
        "buyer_address": profile.address,
        "buyer_country": top_up.country,
        "buyer_vat_id": top_up.vat_id,
    }


def _next_number(kind: Kind, *, year: int) -> int:
    """
    Take the next number of a series; it is given back if the transaction fails.
    """
    InvoiceSeries.objects.bulk_create(
        [InvoiceSeries(prefix=kind, year=year)], ignore_conflicts=True
    )
    series = InvoiceSeries.objects.select_for_update().get(prefix=kind, year=year)
    series.last_number += 1
    series.save(update_fields=["last_number"])
    return series.last_number


def _ids(rows: Any) -> list[int]:
    return list(rows.order_by("pk").values_list("pk", flat=True)[:DOCUMENTS_A_RUN])


def _try(issue: Any, **arguments: Any) -> int:
    try:
        issue(**arguments)
    except (DatabaseError, Busy, NoExchangeRate):
        logger.exception("A document could not be issued")
        return 0
    return 1
