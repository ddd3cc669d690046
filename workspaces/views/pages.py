from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import (
    require_safe,
)

import clock
from billing import services as billing
from workspaces import examples
from workspaces.pilot_form import PilotForm
from workspaces.pilots import NoLiveAsk, cost_of_pilot
from workspaces.states import RULES


@require_safe
@login_not_required
def how_billing_works(request: HttpRequest) -> HttpResponse:
    context = {
        "rules": [(state.label, rule) for state, rule in RULES.items()],
        "rate": examples.RATE,
        "storage_rate": examples.STORAGE_RATE,
        "window": examples.window(),
        "stopped": examples.stopped_early(),
        "rounded_hours": examples.rounded_hours(),
        "fee_rate": settings.PLATFORM_FEE_RATE,
    }
    return render(request, "workspaces/how_billing_works.html", context)


@require_safe
@login_not_required
def pilot(request: HttpRequest) -> HttpResponse:
    currency = settings.CURRENCIES[0]
    if request.user.is_authenticated:
        currency = request.user.currency
    form = PilotForm(request.GET, currency=currency)
    answer = None
    if form.is_valid():
        try:
            answer = cost_of_pilot(form.wanted(), at=clock.now())
        except NoLiveAsk as error:
            form.add_error("gpu", str(error))
        except billing.NoExchangeRate as error:
            form.add_error("currency", str(error))
    return render(request, "workspaces/pilot.html", {"form": form, "answer": answer})
