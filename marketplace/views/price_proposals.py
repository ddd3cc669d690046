"""
Prices that wait for a second member of staff: looked at, approved or refused.
"""

from datetime import datetime

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import ngettext
from django.views.decorators.http import require_http_methods

import clock
from access import staff_only
from catalog import services as catalog
from catalog.forms.prices import DecisionForm
from catalog.price_approvals import decided_prices, waiting_prices
from marketplace import tasks


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def price_proposals(request: HttpRequest) -> HttpResponse:
    form = DecisionForm(request.POST or None)
    at = clock.now()
    if form.is_valid():
        try:
            _decide(request, form, at=at)
        except catalog.CannotDecide as refusal:
            form.add_error(None, str(refusal))
        else:
            return redirect("marketplace:staff_price_proposals")
    context = {
        "form": form,
        "chosen": form.chosen(),
        "now": at,
        "waiting": waiting_prices(page=request.GET.get("page"), at=at),
        "decided": decided_prices(),
    }
    status = 422 if form.is_bound else 200
    return render(
        request, "marketplace/staff/price_proposals.html", context, status=status
    )


def _decide(request: HttpRequest, form: DecisionForm, *, at: datetime) -> None:
    assert request.user.is_authenticated
    is_approval = request.POST.get("verdict") == "approve"
    decide = catalog.approve_prices if is_approval else catalog.refuse_prices
    decide(
        proposal_ids=form.chosen(),
        actor=request.user,
        at=at,
        reason=form.cleaned_data["reason"],
    )
    count = len(form.chosen())
    if is_approval:
        # A lower ask may be within the limit of a request that waits.
        tasks.match_soon()
        text = ngettext(
            "%(count)s price is approved.", "%(count)s prices are approved.", count
        )
    else:
        text = ngettext(
            "%(count)s price is refused.", "%(count)s prices are refused.", count
        )
    messages.success(request, text % {"count": count})
