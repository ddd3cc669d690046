"""
Staff's prices: a grid and files, looked at before they are saved, and the way back.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

import clock
from access import staff_only
from catalog import price_files
from catalog import services as catalog
from catalog.forms.prices import ChangeForm, read_cells
from catalog.models import GpuModel, OfferPrice, PriceFile, Region, Supplier
from catalog.price_changes import recent_saves
from catalog.price_grid import read_grid
from catalog.price_plans import Outcome, PricePlan, plan_prices
from csv_files import csv_response
from marketplace import tasks
from marketplace.price_effects import effects_of
from marketplace.views.uploading import csv_file_form, kept_file

LINES_SHOWN = 100
FILTERS = {"gpu": GpuModel, "supplier": Supplier, "region": Region}


@require_safe
@staff_only
def prices(request: HttpRequest) -> HttpResponse:
    # The database knows no NUL, and no slug has one.
    filters = {name: request.GET.get(name, "").replace("\0", "") for name in FILTERS}
    at = clock.now()
    context = {
        "grid": read_grid(at=at, page=request.GET.get("page"), filters=filters),
        "form": ChangeForm(),
        "filters": [_filter(name, chosen) for name, chosen in filters.items()],
    }
    return render(request, "marketplace/staff/prices.html", context)


def _filter(name: str, chosen: str) -> dict[str, Any]:
    labels = {"gpu": _("GPU"), "supplier": _("Supplier"), "region": _("Region")}
    field = "label" if name == "gpu" else "name"
    rows = FILTERS[name]._default_manager.order_by(field)
    choices = [(slug, text) for slug, text in rows.values_list("slug", field)]
    return {"name": name, "label": labels[name], "chosen": chosen, "choices": choices}


@require_POST
@staff_only
def check_prices(request: HttpRequest) -> HttpResponse:
    form = ChangeForm(request.POST)
    at = clock.now()
    plan = plan_prices(_typed_lines(request, form), at=at)
    if form.is_valid() and not plan.rows:
        messages.info(request, _("You changed no price yet."))
        return redirect("marketplace:staff_prices")
    is_wrong = plan.refused or not form.is_valid()
    return _show_plan(request, form, plan, status=422 if is_wrong else 200)


@require_POST
@staff_only
def save_prices(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    form = ChangeForm(request.POST)
    at = clock.now()
    lines = _typed_lines(request, form)
    if not form.is_valid():
        return _show_plan(request, form, plan_prices(lines, at=at), status=422)
    try:
        plan = catalog.set_prices(lines=lines, actor=request.user, at=at)
    except catalog.PricesRefused as refusal:
        return _show_plan(request, form, refusal.plan, status=422)
    _say_saved(request, plan)
    return redirect("marketplace:staff_prices")


def _typed_lines(request: HttpRequest, form: ChangeForm) -> Any:
    data = form.cleaned_data if form.is_valid() else {}
    return read_cells(
        request.POST.dict(),
        valid_from=data.get("valid_from"),
        reason=data.get("reason", ""),
    )


def _show_plan(
    request: HttpRequest, form: ChangeForm, plan: PricePlan, *, status: int
) -> HttpResponse:
    effects = effects_of(plan)
    context = {
        "form": form,
        "plan": plan,
        "effects": effects,
        "rows": [(row, effects.by_line.get(row.line.number)) for row in plan.rows],
    }
    template = "marketplace/staff/prices_check.html"
    return render(request, template, context, status=status)


def _say_saved(request: HttpRequest, plan: PricePlan) -> None:
    # A lower ask may be within the limit of a request that waits.
    tasks.match_soon()
    if count := len(plan.written):
        text = ngettext(
            "%(count)s price is saved.", "%(count)s prices are saved.", count
        )
        messages.success(request, text % {"count": count})
    if count := len(plan.waiting):
        text = ngettext(
            "%(count)s price waits until a second member of staff approves it.",
            "%(count)s prices wait until a second member of staff approves them.",
            count,
        )
        messages.warning(request, text % {"count": count})


@require_safe
@staff_only
def prices_csv(request: HttpRequest) -> HttpResponseBase:
    at = clock.now()
    return csv_response(
        price_files.written_lines(at=at), name=f"prices-{at:%Y-%m-%d}.csv"
    )


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def upload_prices(request: HttpRequest) -> HttpResponse:
    form = csv_file_form(request)
    if file := kept_file(request, form, catalog.keep_file):
        return redirect("marketplace:staff_price_file", file_id=file.pk)
    context = {
        "form": form,
        "columns": price_files.COLUMNS,
        "files": PriceFile.objects.select_related("uploaded_by")
        .defer("content")
        .order_by("-uploaded_at")[:10],
    }
    status = 422 if form.is_bound else 200
    return render(
        request, "marketplace/staff/price_upload.html", context, status=status
    )


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def price_file(request: HttpRequest, file_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    file = get_object_or_404(PriceFile, pk=file_id)
    at = clock.now()
    if request.method != "POST":
        return _show_file(request, file, at=at)
    try:
        plan = catalog.apply_file(
            file_id=file_id,
            actor=request.user,
            at=at,
            digest=request.POST.get("digest", ""),
        )
    except (catalog.FileApplied, catalog.PricesRefused) as refusal:
        messages.error(request, str(refusal))
        return _show_file(request, file, at=at, status=422)
    _say_saved(request, plan)
    return redirect("marketplace:staff_price_changes")


def _show_file(
    request: HttpRequest, file: PriceFile, *, at: datetime, status: int = 200
) -> HttpResponse:
    plan = plan_prices(price_files.read_lines(file.content), at=at)
    shown = request.GET.get("show", _first_shown(plan))
    effects = effects_of(plan)
    rows = [
        (row, effects.by_line.get(row.line.number))
        for row in plan.rows
        if row.outcome == shown
    ]
    context = {
        "file": file,
        "plan": plan,
        "effects": effects,
        "tabs": [_tab(outcome, plan, shown) for outcome in Outcome],
        "rows": Paginator(rows, LINES_SHOWN).get_page(request.GET.get("page")),
    }
    return render(request, "marketplace/staff/price_file.html", context, status=status)


def _first_shown(plan: PricePlan) -> Outcome:
    if plan.refused:
        return Outcome.REFUSED
    return Outcome.WAITING if plan.waiting else Outcome.CHANGED


def _tab(outcome: Outcome, plan: PricePlan, shown: str) -> dict[str, Any]:
    labels = {
        Outcome.ADDED: _("Added"),
        Outcome.CHANGED: _("Changed"),
        Outcome.WAITING: _("To be approved"),
        Outcome.UNCHANGED: _("Unchanged"),
        Outcome.REFUSED: _("Refused"),
    }
    return {
        "label": labels[outcome],
        "url": f"?show={outcome}",
        "count": plan.counts[outcome],
        "is_current": outcome == shown,
    }


@require_safe
@staff_only
def price_changes(request: HttpRequest) -> HttpResponse:
    context = {"saves": recent_saves(page=request.GET.get("page"))}
    return render(request, "marketplace/staff/price_changes.html", context)


@require_POST
@staff_only
def undo_price(request: HttpRequest, version_id: int) -> HttpResponse:
    assert request.user.is_authenticated
    version = get_object_or_404(OfferPrice, pk=version_id)
    try:
        catalog.undo_price(version_id=version.pk, actor=request.user, at=clock.now())
    except catalog.CannotUndo as refusal:
        messages.error(request, str(refusal))
    else:
        _say_undone(request, 1)
    return redirect("marketplace:staff_price_changes")


@require_POST
@staff_only
def undo_save(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    created_at = parse_datetime(request.POST.get("created_at", ""))
    created_by = request.POST.get("created_by", "")
    if created_at is None or not (created_by.isdecimal() or not created_by):
        raise Http404
    try:
        undone = catalog.undo_save(
            created_at=created_at,
            created_by=int(created_by) if created_by else None,
            actor=request.user,
            at=clock.now(),
        )
    except catalog.CannotUndo as refusal:
        messages.error(request, str(refusal))
    else:
        _say_undone(request, len(undone))
    return redirect("marketplace:staff_price_changes")


def _say_undone(request: HttpRequest, count: int) -> None:
    tasks.match_soon()
    text = ngettext(
        "%(count)s price is back at what it was before.",
        "%(count)s prices are back at what they were before.",
        count,
    )
    messages.success(request, text % {"count": count})
