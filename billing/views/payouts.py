"""
Where staff pay the suppliers: what is due, the file for the bank, what came back.
"""

from django.conf import settings
from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.dateparse import parse_date
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

import clock
from access import staff_only
from billing.models import Payout
from billing.payout_form import ReturnForm
from billing.services.payouts import (
    PayoutReturned,
    bank_file_rows,
    earnings,
    mark_payout_paid,
    recent_payouts,
    return_payout,
    run_payouts,
    week_of,
)
from csv_files import csv_lines, csv_response

HEADS = ["Holder", "Account", "Bank code", "Amount", "Currency", "Text"]


@require_safe
@staff_only
def payouts(request: HttpRequest) -> HttpResponse:
    now = clock.now()
    context = {
        "earnings": earnings(at=now),
        "payouts": recent_payouts(),
        "week": week_of(now),
        "currencies": settings.CURRENCIES,
    }
    return render(request, "billing/payouts.html", context)


@require_POST
@staff_only
def run(request: HttpRequest) -> HttpResponse:
    made = run_payouts(at=clock.now())
    text = ngettext(
        "%(count)d payout was made.", "%(count)d payouts were made.", len(made)
    )
    messages.success(request, text % {"count": len(made)})
    return redirect("billing:payouts")


@require_safe
@staff_only
def bank_file(request: HttpRequest, currency: str, week: str) -> HttpResponseBase:
    try:
        day = parse_date(week)
    except ValueError:
        day = None
    if day is None or currency not in settings.CURRENCIES:
        raise Http404
    rows = bank_file_rows(currency=currency, week=day)
    return csv_response(csv_lines(HEADS, rows), name=f"payouts-{currency}-{day}.csv")


@require_POST
@staff_only
def mark_paid(request: HttpRequest, payout_id: int) -> HttpResponse:
    try:
        mark_payout_paid(payout_id=payout_id, at=clock.now())
    except Payout.DoesNotExist as error:
        raise Http404 from error
    except PayoutReturned as error:
        messages.error(request, str(error))
    else:
        messages.success(request, _("The payout is marked as paid."))
    return redirect("billing:payouts")


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def send_back(request: HttpRequest, payout_id: int) -> HttpResponse:
    payout = get_object_or_404(
        Payout.objects.standing().select_related("account"), pk=payout_id
    )
    form = ReturnForm(request.POST or None)
    if form.is_valid():
        reason = form.cleaned_data["reason"]
        return_payout(payout_id=payout_id, reason=reason, at=clock.now())
        messages.success(request, _("The money is due to the supplier again."))
        return redirect("billing:payouts")
    context = {"form": form, "payout": payout}
    status = 422 if form.is_bound else 200
    return render(request, "billing/payout_return.html", context, status=status)
