from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)
from djmoney.money import Money

import clock
from billing import services as billing
from catalog.models import Region
from workspaces import examples, services
from workspaces.bill import bill
from workspaces.forms import (
    RequestForm,
    StopForm,
    initial_from_query,
    initial_from_quote,
)
from workspaces.models import Quote, Workspace
from workspaces.outlook import if_stopped
from workspaces.pilot_form import PilotForm
from workspaces.pilots import NoLiveAsk, cost_of_pilot
from workspaces.states import OVER, RULES
from workspaces.timeline import timeline


@require_http_methods(["GET", "HEAD", "POST"])
def request_workspace(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    at = clock.now()
    form = RequestForm(
        request.POST if request.method == "POST" else None,
        initial=_initial(request),
        wallets=billing.wallets_of(user_id=request.user.pk),
        at=at,
    )
    if form.is_valid():
        try:
            quote = services.quote_workspace(
                user=request.user, wanted=form.wanted(), at=at
            )
        except services.CannotQuote as error:
            form.add_error(error.field, str(error))
        else:
            return redirect(quote)
    status = 422 if form.is_bound else 200
    return render(request, "workspaces/request.html", {"form": form}, status=status)


def _initial(request: HttpRequest) -> dict[str, Any]:
    assert request.user.is_authenticated
    if "quote" in request.GET:
        quotes = Quote.objects.filter(user=request.user)
        return initial_from_quote(get_object_or_404(quotes, pk=_uuid(request)))
    return {
        "currency": request.user.currency,
        "regions": list(Region.objects.values_list("slug", flat=True)),
        **initial_from_query(request.GET),
    }


def _uuid(request: HttpRequest) -> UUID | None:
    try:
        return UUID(request.GET["quote"])
    except ValueError:
        return None


@require_safe
def show_quote(request: HttpRequest, quote_id: UUID) -> HttpResponse:
    return _quote_page(request, _own_quote(request, quote_id))


def _own_quote(request: HttpRequest, quote_id: UUID) -> Quote:
    assert request.user.is_authenticated
    quotes = Quote.objects.select_related(
        "base_model", "image", "gpu", "storage_plan", "offer__region", "offer__supplier"
    )
    return get_object_or_404(quotes, pk=quote_id, user=request.user)


def _quote_page(
    request: HttpRequest, quote: Quote, *, error: str = "", status: int = 200
) -> HttpResponse:
    at = clock.now()
    wallets = billing.wallets_of(user_id=quote.user_id)
    available = next(
        (wallet.available for wallet in wallets if wallet.currency == quote.currency),
        Money(0, quote.currency),
    )
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
        "error": error,
    }
    return render(request, "workspaces/quote.html", context, status=status)


@require_POST
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


@require_safe
def list_workspaces(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    at = clock.now()
    workspaces = (
        Workspace.objects.owned_by(request.user).with_names().order_by("-funded_at")
    )
    rows = [(workspace, workspace.time_left(at)) for workspace in workspaces]
    context = {
        "current": [row for row in rows if row[0].state not in OVER],
        "over": [row for row in rows if row[0].state in OVER],
    }
    return render(request, "workspaces/list.html", context)


def _own_workspace(request: HttpRequest, workspace_id: UUID) -> Workspace:
    assert request.user.is_authenticated
    workspaces = Workspace.objects.owned_by(request.user).with_names()
    return get_object_or_404(workspaces, pk=workspace_id)


@require_safe
def show_workspace(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    workspace = _own_workspace(request, workspace_id)
    at = clock.now()
    charges = bill(
        workspace,
        charges=billing.charges_of(hold_id=workspace.hold_id),
        meters=billing.meters_of(hold_id=workspace.hold_id),
        is_whole="all" in request.GET,
    )
    context = {
        "workspace": workspace,
        "hold": billing.hold_of(hold_id=workspace.hold_id),
        "bill": charges,
        "entries": timeline(
            workspace, workspace.events.select_related("quote").order_by("pk")
        ),
        "time_left": workspace.time_left(at),
        "time_used": workspace.time_used(at),
        "regions": Region.objects.filter(slug__in=workspace.regions).order_by("name"),
        "is_simulated": settings.PROVISIONER == "simulated",
    }
    return render(request, "workspaces/detail.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    workspace = _own_workspace(request, workspace_id)
    if request.method == "POST":
        try:
            services.cancel_workspace(
                workspace_id=workspace.pk, actor=request.user, at=clock.now()
            )
        except services.IllegalMove as error:
            messages.error(request, str(error))
        else:
            messages.success(
                request, _("Cancelled. The whole hold is back in your wallet.")
            )
        return redirect(workspace)
    if not workspace.can_be_cancelled:
        return redirect(workspace)
    hold = billing.hold_of(hold_id=workspace.hold_id)
    context = {"workspace": workspace, "hold": hold}
    return render(request, "workspaces/cancel.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    workspace = _own_workspace(request, workspace_id)
    at = clock.now()
    form = StopForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            services.stop_workspace(
                workspace_id=workspace.pk,
                actor=request.user,
                at=at,
                **form.cleaned_data,
            )
        except (services.IllegalMove, services.NothingToKeep) as error:
            messages.error(request, str(error))
        else:
            messages.success(
                request, _("Stopped, and billed to the second. The rest came back.")
            )
        return redirect(workspace)
    if not workspace.can_be_stopped:
        return redirect(workspace)
    hold = billing.hold_of(hold_id=workspace.hold_id)
    meters = billing.meters_of(hold_id=workspace.hold_id)
    outlook = if_stopped(workspace, hold=hold, meters=meters, at=at)
    context = {"workspace": workspace, "outlook": outlook, "form": form}
    status = 422 if form.is_bound else 200
    return render(request, "workspaces/stop.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    workspace = _own_workspace(request, workspace_id)
    if request.method == "POST":
        try:
            services.delete_data(
                workspace_id=workspace.pk, actor=request.user, at=clock.now()
            )
        except services.IllegalMove as error:
            messages.error(request, str(error))
        else:
            messages.success(
                request, _("The data are deleted. What was left has come back.")
            )
        return redirect(workspace)
    if not workspace.can_delete_data:
        return redirect(workspace)
    context = {
        "workspace": workspace,
        "hold": billing.hold_of(hold_id=workspace.hold_id),
    }
    return render(request, "workspaces/delete.html", context)


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
