"""
What a supplier earns, where it goes, and what left.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

import clock
from billing import services as billing
from billing.services import PartyStatement
from csv_files import Value, csv_lines, csv_response
from marketplace.models import SupplierMember
from marketplace.suppliers.companies import change_bank_account, party_of
from marketplace.suppliers.desk import fee_example
from marketplace.suppliers.forms import BankForm
from marketplace.templatetags.suppliers import rental_code
from marketplace.views.suppliers.acting import proven_owner_only, supplier_only

MONTH = re.compile(r"(20[0-9]{2})-(0[1-9]|1[0-2])", re.ASCII)
HEADS = ["Day", "What", "Rental", "Amount", "Balance", "Currency"]


@require_safe
@supplier_only
def earnings(request: HttpRequest, member: SupplierMember) -> HttpResponse:
    at = clock.now()
    party = party_of(member.supplier)
    standings = billing.standings_of(party=party, at=at)
    currency = _currency(request, [row.currency for row in standings])
    first = _month(request, at)
    context = {
        "member": member,
        "standings": standings,
        "payouts": billing.payouts_of(party=party),
        "statement": _statement(party, currency, first),
        "currency": currency,
        "month": first,
        "months": _months(member, at),
        "fee": fee_example(),
    }
    return render(request, "suppliers/earnings.html", context)


@require_safe
@supplier_only
def statement_csv(request: HttpRequest, member: SupplierMember) -> HttpResponseBase:
    first = _month(request, clock.now())
    currency = _currency(request, settings.CURRENCIES)
    found = _statement(party_of(member.supplier), currency, first)
    rows: Iterator[list[Value]] = (
        [line.at, line.kind, rental_code(line), line.amount, line.balance, currency]
        for line in found.lines
    )
    name = f"earnings-{currency}-{first:%Y-%m}.csv"
    return csv_response(csv_lines(HEADS, rows), name=name)


@require_http_methods(["GET", "HEAD", "POST"])
@proven_owner_only
def bank(request: HttpRequest, member: SupplierMember) -> HttpResponse:
    assert request.user.is_authenticated
    form = BankForm(
        request.POST if request.method == "POST" else None,
        initial={"holder": member.supplier.company.legal_name},
    )
    if form.is_valid():
        change_bank_account(
            supplier=member.supplier,
            actor=request.user,
            at=clock.now(),
            **form.cleaned_data,
        )
        messages.success(request, _("Saved. The next payout goes there."))
        return redirect("marketplace:supplier_bank")
    context = {
        "member": member,
        "form": form,
        "accounts": billing.bank_accounts_of(party=party_of(member.supplier)),
    }
    status = 422 if form.is_bound else 200
    return render(request, "suppliers/bank.html", context, status=status)


def _currency(request: HttpRequest, known: list[str] | tuple[str, ...]) -> str:
    wanted = request.GET.get("currency", "")
    if wanted and wanted not in settings.CURRENCIES:
        raise Http404
    return wanted or (known[0] if known else settings.CURRENCIES[0])


def _month(request: HttpRequest, at: datetime) -> datetime:
    text = request.GET.get("month", "")
    if not text:
        return at.astimezone(UTC).replace(
            day=1, hour=0, minute=0, second=0, microsecond=0
        )
    if not (found := MONTH.fullmatch(text)):
        raise Http404
    return datetime(int(found[1]), int(found[2]), 1, tzinfo=UTC)


def _next(first: datetime) -> datetime:
    year, month = divmod(first.year * 12 + first.month, 12)
    return first.replace(year=year, month=month + 1)


def _months(member: SupplierMember, at: datetime) -> list[datetime]:
    """
    Return the months since the supplier applied, the newest first.
    """
    applied_at = member.supplier.company.applied_at.astimezone(UTC)
    month = applied_at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
    months = [month]
    while (month := _next(month)) <= at:
        months.append(month)
    return months[::-1]


def _statement(party: str, currency: str, first: datetime) -> PartyStatement:
    return billing.statement_of_party(
        party=party, currency=currency, from_at=first, to_at=_next(first)
    )
