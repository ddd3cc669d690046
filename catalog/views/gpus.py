from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

import clock
from catalog.asks import ask_of, rows_of
from catalog.best_asks import best_asks, best_asks_of
from catalog.comparison import compare, read_choice
from catalog.demo_prices import REASON as INVENTED
from catalog.forms.gpu_list import GpuFilterForm
from catalog.gpu_list import list_gpus
from catalog.guides import cost_windows, fit_rows
from catalog.models import GpuModel, Offer, OfferPrice, Region
from catalog.views.price_history import history_part

OFFERS_SHOWN = 25
VERSIONS_SHOWN = 20


@require_safe
@login_not_required
def gpus(request: HttpRequest) -> HttpResponse:
    every = list(GpuModel.objects.all())
    form = GpuFilterForm(
        request.GET, gpus=every, regions=Region.objects.order_by("name")
    )
    asks = best_asks(at=clock.now())
    listing = list_gpus(every, asks=asks, filters=form.filters(), sort=form.sorted_by())
    removals = [
        {
            "said": form.said(removal.name),
            "query": urlencode(form.without(removal.name)),
            "removal": removal,
        }
        for removal in listing.removals
    ]
    htmx = HtmxDetails(request)
    is_fragment = bool(htmx) and not htmx.history_restore_request
    template = "catalog/_gpu_list.html" if is_fragment else "catalog/gpus.html"
    context = {"form": form, "listing": listing, "removals": removals}
    response = render(request, template, context)
    address = f"{request.path}?{urlencode(form.state())}".rstrip("?")
    response["HX-Push-Url"] = address
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_safe
@login_not_required
def compare_gpus(request: HttpRequest) -> HttpResponse:
    every = list(GpuModel.objects.order_by("label"))
    choice = read_choice(request.GET.getlist("gpu"), gpus=every)
    asks = best_asks(at=clock.now()) if choice.is_enough else {}
    context = {
        "gpus": every,
        "choice": choice,
        "comparison": compare(choice.gpus, asks=asks) if choice.is_enough else None,
    }
    return render(request, "catalog/compare.html", context)


@require_safe
@login_not_required
def gpu(request: HttpRequest, slug: str) -> HttpResponse:
    at = clock.now()
    found = get_object_or_404(GpuModel, slug=slug)
    best = best_asks_of(gpu_id=found.pk, at=at)
    # All at once: counting them first would take a query more.
    rows = list(rows_of(Offer.objects.filter(gpu=found).listed(at), at=at))
    offers = Paginator(rows, OFFERS_SHOWN).get_page(request.GET.get("page"))
    versions = list(
        OfferPrice.objects.filter(offer__gpu=found, valid_from__lte=at)
        .select_related("offer__supplier", "offer__region")
        .order_by("-valid_from", "-pk")[: VERSIONS_SHOWN + 1]
    )
    prices = history_part(
        request, found, first=best[0].region.slug if best else "", at=at
    )
    context = {
        "gpu": found,
        "row": fit_rows([found], asks={found.pk: best})[0],
        "windows": cost_windows(best[0].rate) if best else [],
        "offers": offers,
        "asks": [ask_of(row) for row in offers],
        "prices": prices,
        "versions": versions[:VERSIONS_SHOWN],
        "has_older_versions": len(versions) > VERSIONS_SHOWN,
        "is_invented": prices is not None and INVENTED in prices.history.reasons,
        "invented": INVENTED,
    }
    return render(request, "catalog/gpu.html", context)
