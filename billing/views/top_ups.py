"""
From an amount to the provider's page and back.
"""

from uuid import UUID

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import redirect, render
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_safe
from django_htmx.middleware import HtmxDetails
from djmoney.money import Money

import clock
from billing.forms import TopUpForm
from billing.models import TopUp
from billing.services.profiles import (
    VatRateMissing,
    check_vat_id,
    profile_of,
    save_profile,
)
from billing.services.refunds import refundable
from billing.services.top_ups import (
    TopUpRefused,
    confirm_top_up,
    find_top_up,
    start_top_up,
)
from billing.tax import IdStatus
from limits import limited

STEPS = [_("Amount"), _("Check"), _("Pay"), _("In your wallet")]
PROFILE_FIELDS = ("country", "is_business", "name", "address", "vat_id")


@require_http_methods(["GET", "HEAD", "POST"])
@limited(a_minute=20)
def top_up(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    form = TopUpForm(request.POST or None, initial=_initial(request))
    if form.is_valid():
        try:
            quote = _quote(request, form)
        except (TopUpRefused, VatRateMissing) as error:
            form.add_error(None, str(error))
        else:
            return redirect("billing:top_up_confirm", quote.uuid)
    status = 422 if form.is_bound else 200
    context = {"form": form, "steps": STEPS}
    return render(request, "billing/top_up.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@limited(a_minute=20)
def confirm(request: HttpRequest, top_up: UUID) -> HttpResponse:
    quote = _own(request, top_up)
    refusal = ""
    if request.method == "POST":
        try:
            quote = confirm_top_up(top_up_id=quote.pk, at=clock.now())
        except TopUpRefused as error:
            refusal = str(error)
        else:
            return _to_provider(quote)
    if quote.status != TopUp.Status.DRAFT:
        return redirect(quote)
    balance = quote.wallet.available.balance
    profile = profile_of(user_id=quote.wallet.user_id)
    context = {
        "top_up": quote,
        "has_invalid_vat_id": profile and profile.vat_id_status == IdStatus.INVALID,
        "available": balance,
        "available_after": balance + quote.net,
        "refusal": refusal,
        "steps": STEPS,
    }
    status = 422 if refusal else 200
    return render(request, "billing/top_up_confirm.html", context, status=status)


@require_safe
def status(request: HttpRequest, top_up: UUID) -> HttpResponse:
    row = _own(request, top_up)
    if row.status == TopUp.Status.DRAFT:
        return redirect("billing:top_up_confirm", row.uuid)
    context = {
        "top_up": row,
        "available": row.wallet.available.balance,
        "refundable": refundable(row),
        "refunds": row.refunds.order_by("pk"),
        "steps": STEPS,
    }
    is_fragment = bool(HtmxDetails(request))
    page = "_top_up_state.html" if is_fragment else "top_up_state.html"
    response = render(request, f"billing/{page}", context)
    if is_fragment and not row.is_open:
        # The header shows the balance too, so the whole page is loaded anew.
        response["HX-Refresh"] = "true"
    return response


def _own(request: HttpRequest, top_up: UUID) -> TopUp:
    assert request.user.is_authenticated
    row = find_top_up(user_id=request.user.pk, top_up=top_up)
    if row is None:
        raise Http404
    return row


def _initial(request: HttpRequest) -> dict[str, object]:
    assert request.user.is_authenticated
    profile = profile_of(user_id=request.user.pk)
    known = {name: getattr(profile, name) for name in PROFILE_FIELDS} if profile else {}
    currency = request.GET.get("currency", request.user.currency)
    return {"currency": currency, **known}


def _quote(request: HttpRequest, form: TopUpForm) -> TopUp:
    assert request.user.is_authenticated
    cleaned, now = form.cleaned_data, clock.now()
    save_profile(
        user_id=request.user.pk, **{name: cleaned[name] for name in PROFILE_FIELDS}
    )
    check_vat_id(user_id=request.user.pk, at=now)
    return start_top_up(
        user_id=request.user.pk,
        net=Money(cleaned["amount"], cleaned["currency"]),
        email=request.user.email,
        language=get_language() or request.user.language,
        saves_card=cleaned["saves_card"],
        at=now,
    )


def _to_provider(top_up: TopUp) -> HttpResponse:
    if top_up.status == TopUp.Status.PENDING:
        return HttpResponseRedirect(top_up.checkout_url)
    return redirect(top_up)
