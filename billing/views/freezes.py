"""
Where staff let frozen wallets go again, and say why.
"""

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

import clock
from access import staff_only
from billing.forms import UnfreezeForm
from billing.services.freezes import (
    DebtLeft,
    DisputeOpen,
    frozen_cases,
    let_go,
    recent_wallet_events,
)

EVENTS_SHOWN = 50


@require_safe
@staff_only
def disputes(request: HttpRequest) -> HttpResponse:
    context = {
        "wallets": frozen_cases(),
        "events": recent_wallet_events(number=EVENTS_SHOWN),
    }
    return render(request, "billing/disputes.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def unfreeze(request: HttpRequest, wallet_id: int) -> HttpResponse:
    assert request.user.is_authenticated
    found = frozen_cases(pk=wallet_id)
    if not found:
        raise Http404
    form = UnfreezeForm(request.POST or None, has_debt=bool(found[0].debt))
    if form.is_valid():
        try:
            let_go(
                wallet_id=wallet_id,
                actor_id=request.user.pk,
                reason=form.cleaned_data["reason"],
                writes_off=form.cleaned_data.get("writes_off", False),
                at=clock.now(),
            )
        except (DebtLeft, DisputeOpen) as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The wallet can be used again."))
            return redirect("billing:disputes")
    status = 422 if form.is_bound else 200
    context = {"form": form, "wallet": found[0]}
    return render(request, "billing/unfreeze.html", context, status=status)
