"""
What is in the wallets and how it got there.
"""

import calendar
import re
from datetime import date, datetime
from typing import Any

from django.conf import settings
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, StreamingHttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

import clock
from billing import documents
from billing.services.burn import standings_of
from billing.services.statements import Statement, latest_lines, statement_of
from billing.services.top_ups import recent_top_ups
from billing.services.wallets import NoSuchWallet
from csv_files import csv_lines, csv_response
from limits import limited

MONTH = re.compile(r"(20[0-9]{2})-(0[1-9]|1[0-2])", re.ASCII)
RECENT = 8
LINES_A_PAGE = 100


@require_safe
def wallet(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    user_id = request.user.pk
    standings = standings_of(user_id=user_id)
    currency = _chosen(request, [row.balance.currency for row in standings])
    context = {
        "standings": standings,
        "currency": currency,
        "top_ups": recent_top_ups(user_id=user_id, number=RECENT),
        "lines": latest_lines(user_id=user_id, currency=currency, number=RECENT)
        if standings
        else [],
    }
    return render(request, "billing/wallet.html", context)


@require_safe
def statement(request: HttpRequest, currency: str) -> HttpResponse:
    first = _month(request)
    found = _statement(request, currency, first)
    page = Paginator(found.lines, LINES_A_PAGE).get_page(request.GET.get("page"))
    context: dict[str, Any] = {
        "currency": currency,
        "currencies": settings.CURRENCIES,
        "statement": found,
        "page": page,
        "month": first,
        "months": _months(request),
    }
    return render(request, "billing/statement.html", context)


@require_safe
@limited(a_minute=20)
def statement_csv(request: HttpRequest, currency: str) -> StreamingHttpResponse:
    first = _month(request)
    found = _statement(request, currency, first)
    heads = [
        _("Time (UTC)"),
        _("What"),
        _("Reference"),
        _("Currency"),
        _("Amount"),
        _("Held"),
        _("Balance"),
        _("Available"),
    ]
    rows = (
        (
            line.at,
            line.label,
            line.reference,
            currency,
            line.amount,
            line.set_aside,
            line.balance,
            line.available,
        )
        for line in found.lines
    )
    name = f"statement-{currency}-{first:%Y-%m}.csv"
    return csv_response(csv_lines(heads, rows), name=name)


@require_safe
@limited(a_minute=20)
def statement_pdf(request: HttpRequest, currency: str) -> HttpResponse:
    assert request.user.is_authenticated
    first = _month(request)
    content = documents.statement_pdf(
        _statement(request, currency, first),
        currency=currency,
        month=first,
        language=get_language() or request.user.language,
        name=request.user.email,
    )
    return as_pdf(content, name=f"statement-{currency}-{first:%Y-%m}")


def as_pdf(content: bytes, *, name: str) -> HttpResponse:
    response = HttpResponse(content, content_type="application/pdf")
    response["Content-Disposition"] = f'attachment; filename="{name}.pdf"'
    return response


def _chosen(request: HttpRequest, currencies: list[str]) -> str:
    assert request.user.is_authenticated
    wanted = request.GET.get("currency", request.user.currency)
    return wanted if wanted in currencies else request.user.currency


def _month(request: HttpRequest) -> date:
    """
    Return the first day of the month asked for, or of the current one.
    """
    today = timezone.localtime(clock.now()).date()
    match = MONTH.fullmatch(request.GET.get("month", f"{today:%Y-%m}"))
    if match is None:
        raise Http404
    return date(int(match[1]), int(match[2]), 1)


def _statement(request: HttpRequest, currency: str, first: date) -> Statement:
    """
    Return the month as the reader's time zone has it.
    """
    assert request.user.is_authenticated
    days = calendar.monthrange(first.year, first.month)[1]
    zone = timezone.get_current_timezone()
    from_at = datetime(first.year, first.month, 1, tzinfo=zone)
    after = date.fromordinal(first.toordinal() + days)
    to_at = datetime(after.year, after.month, 1, tzinfo=zone)
    try:
        return statement_of(
            user_id=request.user.pk, currency=currency, from_at=from_at, to_at=to_at
        )
    except NoSuchWallet:
        raise Http404 from None


def _months(request: HttpRequest) -> list[date]:
    """
    Return the first days of the months since the user joined, the newest first.
    """
    assert request.user.is_authenticated
    joined = timezone.localtime(request.user.date_joined).date()
    today = timezone.localtime(clock.now()).date()
    number = (today.year - joined.year) * 12 + today.month - joined.month
    months = [today.year * 12 + today.month - 1 - back for back in range(number + 1)]
    return [date(month // 12, month % 12 + 1, 1) for month in months]
