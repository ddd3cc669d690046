"""
Automatic top-ups and the card that pays for them.
"""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST
from djmoney.money import Money

import clock
from billing.forms import AutoTopUpForm
from billing.gateway import OutcomeUnknown
from billing.models import AutoTopUp
from billing.services import auto_top_ups as services
from billing.services.top_ups import TopUpRefused
from billing.services.wallets import NoSuchWallet
from limits import limited

AMOUNTS = ("threshold", "amount", "monthly_cap")


@require_http_methods(["GET", "HEAD", "POST"])
@limited(a_minute=20)
def auto_top_up(request: HttpRequest, currency: str) -> HttpResponse:
    assert request.user.is_authenticated
    auto = _auto(request, currency)
    form = AutoTopUpForm(request.POST or None, initial=_initial(auto))
    if form.is_valid() and _switch_on(request, form, currency):
        messages.success(request, _("Automatic top-ups are on."))
        return redirect("billing:auto_top_up", currency)
    context = {
        "form": form,
        "auto": auto,
        "card": services.card_of(user_id=request.user.pk),
        "currency": currency,
    }
    status = 422 if form.is_bound else 200
    return render(request, "billing/auto_top_up.html", context, status=status)


@require_POST
def switch_off(request: HttpRequest, currency: str) -> HttpResponse:
    assert request.user.is_authenticated
    _auto(request, currency)
    services.switch_off(user_id=request.user.pk, currency=currency, at=clock.now())
    messages.success(request, _("Automatic top-ups are off."))
    return redirect("billing:auto_top_up", currency)


@require_POST
def remove_card(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    try:
        services.remove_card(user_id=request.user.pk, at=clock.now())
    except OutcomeUnknown:
        messages.error(
            request, _("The payment provider did not answer. Please try again.")
        )
    else:
        messages.success(request, _("The card is removed."))
    return redirect("billing:wallet")


def _auto(request: HttpRequest, currency: str) -> AutoTopUp | None:
    assert request.user.is_authenticated
    try:
        return services.auto_top_up_of(user_id=request.user.pk, currency=currency)
    except NoSuchWallet:
        raise Http404 from None


def _initial(auto: AutoTopUp | None) -> dict[str, Any]:
    if auto is None:
        return {}
    return {name: getattr(auto, name).amount for name in AMOUNTS}


def _switch_on(request: HttpRequest, form: AutoTopUpForm, currency: str) -> bool:
    assert request.user.is_authenticated
    amounts = {name: Money(form.cleaned_data[name], currency) for name in AMOUNTS}
    try:
        services.switch_on(
            user_id=request.user.pk,
            email=request.user.email,
            language=get_language() or request.user.language,
            at=clock.now(),
            **amounts,
        )
    except (services.NoCard, TopUpRefused) as error:
        form.add_error(None, str(error))
        return False
    return True
