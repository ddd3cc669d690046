"""
Invoices and credit notes.
"""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from billing.documents import invoice_pdf
from billing.services.invoices import find_invoice, invoices_of
from billing.views.wallet import as_pdf
from limits import limited


@require_safe
def invoices(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    context = {"invoices": invoices_of(user_id=request.user.pk)}
    return render(request, "billing/invoices.html", context)


@require_safe
@limited(a_minute=30)
def invoice(request: HttpRequest, code: str) -> HttpResponse:
    assert request.user.is_authenticated
    row = find_invoice(user_id=request.user.pk, code=code)
    if row is None:
        raise Http404
    return as_pdf(invoice_pdf(row), name=row.code)
