"""
Unspent money back to the card it came from, by the customer.
"""

from uuid import UUID, uuid4

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST
from djmoney.money import Money

import clock
from billing.forms import RefundForm
from billing.ledger import KeyReused
from billing.models import TopUp
from billing.services.refunds import (
    RefundRefused,
    refund_payment,
    refundable,
    vat_on_refund,
)
from billing.services.top_ups import find_top_up
from billing.services.wallets import InsufficientFunds, WalletFrozen
from limits import limited

REFUSALS = (RefundRefused, InsufficientFunds, WalletFrozen, KeyReused)


@require_http_methods(["GET", "HEAD", "POST"])
def refund(request: HttpRequest, top_up: UUID) -> HttpResponse:
    row = _own(request, top_up)
    most = refundable(row)
    form = RefundForm(request.POST or None, initial={"key": uuid4()})
    if form.is_valid():
        net = Money(form.cleaned_data["amount"], row.net.currency)
        if net <= most:
            return _check(request, row, net=net, key=str(form.cleaned_data["key"]))
        form.add_error("amount", _("That is more than can go back to the card."))
    status = 422 if form.is_bound else 200
    context = {"form": form, "top_up": row, "most": most}
    return render(request, "billing/refund.html", context, status=status)


@require_POST
@limited(a_minute=10)
def refund_confirm(request: HttpRequest, top_up: UUID) -> HttpResponse:
    row = _own(request, top_up)
    form = RefundForm(request.POST)
    if not form.is_valid():
        return redirect("billing:refund", row.uuid)
    try:
        done = refund_payment(
            top_up_id=row.pk,
            net=Money(form.cleaned_data["amount"], row.net.currency),
            key=f"user:{request.user.pk}:{form.cleaned_data['key']}",
            at=clock.now(),
        )
    except REFUSALS as error:
        messages.error(request, str(error))
        return redirect("billing:refund", row.uuid)
    if done.status == done.Status.FAILED:
        messages.error(request, _("The refund failed; the money is in your wallet."))
    else:
        messages.success(request, _("The refund is on its way to your card."))
    return redirect(row)


def _check(request: HttpRequest, row: TopUp, *, net: Money, key: str) -> HttpResponse:
    vat = vat_on_refund(row, net)
    context = {
        "top_up": row,
        "net": net,
        "vat": vat,
        "total": net + vat,
        "key": key,
        "available_after": row.wallet.available.balance - net,
    }
    return render(request, "billing/refund_confirm.html", context)


def _own(request: HttpRequest, top_up: UUID) -> TopUp:
    assert request.user.is_authenticated
    row = find_top_up(user_id=request.user.pk, top_up=top_up)
    if row is None or row.status != TopUp.Status.PAID:
        raise Http404
    return row
