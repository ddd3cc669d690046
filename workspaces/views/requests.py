from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

import clock
from billing import services as billing
from catalog.models import Region
from limits import limited
from workspaces import services
from workspaces.forms.request import (
    RequestForm,
    initial_from_draft,
    initial_from_query,
    initial_from_quote,
    typed_in,
)
from workspaces.models import Draft, Quote

EARLIER_SHOWN = 5


@require_http_methods(["GET", "HEAD", "POST"])
@limited(a_minute=60)
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
                user=request.user,
                wanted=form.wanted(),
                replaces=_changed_quote(request),
                at=at,
            )
        except services.CannotQuote as error:
            form.add_error(error.field, str(error))
        else:
            _own_drafts(request).filter(pk=_id_in(request, "draft")).delete()
            return redirect(quote)
    return _page(request, form, status=422 if form.is_bound else 200)


def _page(request: HttpRequest, form: RequestForm, *, status: int) -> HttpResponse:
    assert request.user.is_authenticated
    earlier = Quote.objects.filter(user=request.user, used_at__isnull=False)
    context = {
        "form": form,
        "draft_id": request.GET.get("draft", ""),
        "drafts": _own_drafts(request).order_by("-saved_at"),
        "earlier": earlier.select_related("base_model", "gpu").order_by("-used_at")[
            :EARLIER_SHOWN
        ],
    }
    return render(request, "workspaces/request.html", context, status=status)


def _initial(request: HttpRequest) -> dict[str, Any]:
    assert request.user.is_authenticated
    if "quote" in request.GET:
        quotes = Quote.objects.filter(user=request.user)
        return initial_from_quote(
            get_object_or_404(quotes, pk=_id_in(request, "quote"))
        )
    if "draft" in request.GET:
        return initial_from_draft(
            get_object_or_404(_own_drafts(request), pk=_id_in(request, "draft"))
        )
    return {
        "currency": request.user.currency,
        "regions": list(Region.objects.values_list("slug", flat=True)),
        **initial_from_query(request.GET),
    }


def _changed_quote(request: HttpRequest) -> Quote | None:
    """
    Return the quote that was opened to be changed, unless it is funded already.
    """
    assert request.user.is_authenticated
    quotes = Quote.objects.filter(user=request.user, used_at=None)
    return quotes.filter(pk=_id_in(request, "quote")).first()


def _own_drafts(request: HttpRequest) -> Any:
    assert request.user.is_authenticated
    return Draft.objects.filter(user=request.user)


def _id_in(request: HttpRequest, name: str) -> UUID:
    """
    Return an id of the query string, or one that nothing has.
    """
    try:
        return UUID(request.GET.get(name, ""))
    except ValueError:
        return UUID(int=0)


@require_POST
@limited(a_minute=60)
def save_draft(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    try:
        draft = services.save_draft(
            user=request.user,
            typed=typed_in(request.POST),
            draft_id=_id_in(request, "draft"),
            at=clock.now(),
        )
    except services.TooManyDrafts as error:
        messages.error(request, str(error))
        return redirect("workspaces:list")
    messages.success(request, _("Saved as a draft. Nothing was checked or held."))
    return redirect(draft)


@require_POST
def delete_draft(request: HttpRequest, draft_id: UUID) -> HttpResponse:
    get_object_or_404(_own_drafts(request), pk=draft_id).delete()
    messages.success(request, _("The draft is deleted."))
    return redirect("workspaces:list")
