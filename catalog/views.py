from decimal import Decimal
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_vary_headers
from django.utils.translation import get_language
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

import clock
from catalog.asks import asks_of, best_asks
from catalog.forms import PlannerForm
from catalog.guides import FitRow, cost_windows, fit_rows, read_guide, read_guide_list
from catalog.models import (
    BaseModel,
    GpuModel,
    Offer,
    OfferPrice,
    WorkloadText,
)
from catalog.planner import Wanted, make_plan

OFFERS_SHOWN = 50
VERSIONS_SHOWN = 50


@require_safe
@login_not_required
def workloads(request: HttpRequest) -> HttpResponse:
    guides = read_guide_list(language=_language())
    return render(request, "catalog/workloads.html", {"guides": guides})


@require_safe
@login_not_required
def workload(request: HttpRequest, slug: str) -> HttpResponse:
    try:
        guide = read_guide(slug=slug, language=_language(), at=clock.now())
    except WorkloadText.DoesNotExist as error:
        raise Http404("There is no such guide.") from error
    return render(request, "catalog/workload.html", {"guide": guide})


@require_safe
@login_not_required
def gpus(request: HttpRequest) -> HttpResponse:
    found = fit_rows(GpuModel.objects.all(), asks=best_asks(at=clock.now()))
    return render(request, "catalog/gpus.html", {"rows": sorted(found, key=_by_price)})


def _by_price(row: FitRow) -> tuple[bool, Decimal, Decimal, str]:
    price = row.best.rate.amount if row.best else Decimal(0)
    return row.best is None, price, row.gpu.memory_gb, row.gpu.label


@require_safe
@login_not_required
def gpu(request: HttpRequest, slug: str) -> HttpResponse:
    at = clock.now()
    found = get_object_or_404(GpuModel, slug=slug)
    best = best_asks(at=at).get(found.pk, [])
    offers = asks_of(Offer.objects.filter(gpu=found).listed(at), at=at)
    versions = (
        OfferPrice.objects.filter(offer__gpu=found, valid_from__lte=at)
        .select_related("offer__supplier", "offer__region")
        .order_by("-valid_from", "-pk")
    )
    context = {
        "gpu": found,
        "row": fit_rows([found], asks={found.pk: best})[0],
        "windows": cost_windows(best[0].rate) if best else [],
        "offers": Paginator(offers, OFFERS_SHOWN).get_page(request.GET.get("page")),
        "versions": versions[:VERSIONS_SHOWN],
    }
    return render(request, "catalog/gpu.html", context)


@require_safe
@login_not_required
def planner(request: HttpRequest) -> HttpResponse:
    models = BaseModel.objects.filter(is_listed=True).order_by(
        "family", "total_params_b"
    )
    form = PlannerForm(request.GET, models=models)
    plan = None
    if form.is_valid():
        plan = make_plan(Wanted(**form.cleaned_data), at=clock.now())
    context = {
        "form": form,
        "plan": plan,
        "state": urlencode(form.state()) if plan else "",
    }
    htmx = HtmxDetails(request)
    is_fragment = bool(htmx) and not htmx.history_restore_request
    template = "catalog/_planner.html" if is_fragment else "catalog/planner.html"
    response = render(request, template, context)
    patch_vary_headers(response, ["HX-Request"])
    return response


def _language() -> str:
    return get_language() or "en"
