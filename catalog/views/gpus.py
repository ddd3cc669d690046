from decimal import Decimal

from django.contrib.auth.decorators import login_not_required
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

import clock
from catalog.asks import asks_of, best_asks, best_of
from catalog.guides import FitRow, cost_windows, fit_rows
from catalog.models import GpuModel, Offer, OfferPrice
from catalog.views.price_history import history_part

OFFERS_SHOWN = 50
VERSIONS_SHOWN = 50


@require_safe
@login_not_required
def gpus(request: HttpRequest) -> HttpResponse:
    found = fit_rows(GpuModel.objects.all(), asks=best_asks(at=clock.now()))
    return render(request, "catalog/gpus.html", {"rows": sorted(found, key=_by_price)})


def _by_price(row: FitRow) -> tuple[bool, bool, Decimal, Decimal, str]:
    is_unknown, price = row.best.price_order[:2] if row.best else (False, Decimal(0))
    return row.best is None, is_unknown, price, row.gpu.memory_gb, row.gpu.label


@require_safe
@login_not_required
def gpu(request: HttpRequest, slug: str) -> HttpResponse:
    at = clock.now()
    found = get_object_or_404(GpuModel, slug=slug)
    asks = asks_of(Offer.objects.filter(gpu=found).listed(at), at=at)
    best = best_of(asks)
    versions = (
        OfferPrice.objects.filter(offer__gpu=found, valid_from__lte=at)
        .select_related("offer__supplier", "offer__region")
        .order_by("-valid_from", "-pk")
    )
    context = {
        "gpu": found,
        "row": fit_rows([found], asks={found.pk: best})[0],
        "windows": cost_windows(best[0].rate) if best else [],
        "offers": Paginator(asks, OFFERS_SHOWN).get_page(request.GET.get("page")),
        "prices": history_part(
            request, found, first=best[0].region.slug if best else "", at=at
        ),
        "versions": versions[:VERSIONS_SHOWN],
    }
    return render(request, "catalog/gpu.html", context)
