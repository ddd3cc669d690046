from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_POST,
    require_safe,
)
from djmoney.money import Money

import clock
from catalog.models import Region
from limits import limited
from workspaces import services
from workspaces.comparison import changes_between
from workspaces.models import Quote, SshKey
from workspaces.reliability import reliability
from workspaces.views.wallets import available_in

QUOTE_NAMES = (
    "base_model",
    "image",
    "gpu",
    "storage_plan",
    "offer__region",
    "offer__supplier",
    "offer__listing",
)


@require_safe
def show_quote(request: HttpRequest, quote_id: UUID) -> HttpResponse:
    return _quote_page(request, _own_quote(request, quote_id))


def _own_quote(request: HttpRequest, quote_id: UUID) -> Quote:
    assert request.user.is_authenticated
    quotes = Quote.objects.select_related(
        *QUOTE_NAMES, *(f"replaces__{name}" for name in QUOTE_NAMES)
    )
    return get_object_or_404(quotes, pk=quote_id, user=request.user)


def _quote_page(
    request: HttpRequest, quote: Quote, *, error: str = "", status: int = 200
) -> HttpResponse:
    at = clock.now()
    available = available_in(quote.currency, user_id=quote.user_id)
    after = available - quote.hold_amount
    context = {
        "quote": quote,
        "regions": Region.objects.filter(slug__in=quote.regions).order_by("name"),
        "is_expired": quote.is_expired(at),
        "time_left": quote.expires_at - at,
        "available": available,
        "after": after,
        "shortfall": -after if after.amount < 0 else None,
        "exchanged": [
            (Money(1, code), Money(rate, quote.currency))
            for code, rate in services.exchanged(quote).items()
        ],
        "changes": changes_between(quote.replaces, quote) if quote.replaces else [],
        "reliability": reliability(gpu_id=quote.gpu_id, regions=quote.regions, at=at),
        "has_key": SshKey.objects.filter(user=quote.user_id).exists(),
        "error": error,
    }
    return render(request, "workspaces/quote.html", context, status=status)


@require_POST
@limited(a_minute=30)
def fund(request: HttpRequest, quote_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    quote = _own_quote(request, quote_id)
    try:
        workspace = services.fund_workspace(
            user=request.user, quote_id=quote.pk, at=clock.now()
        )
    except services.CANNOT_FUND as error:
        return _quote_page(request, quote, error=str(error), status=422)
    messages.success(
        request, _("Funded. The money is held, and your request has its place.")
    )
    return redirect(workspace)


@require_POST
@limited(a_minute=30)
def quote_again(request: HttpRequest, quote_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    earlier = _own_quote(request, quote_id)
    try:
        quote = services.quote_again(
            user=request.user, quote_id=earlier.pk, at=clock.now()
        )
    except services.CannotQuote as error:
        return _quote_page(request, earlier, error=str(error), status=422)
    return redirect(quote)
