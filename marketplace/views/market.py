from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

import clock
from catalog.models import GpuModel
from marketplace import depth


@require_safe
@login_not_required
def market(request: HttpRequest) -> HttpResponse:
    context = {"rows": depth.overview(at=clock.now())}
    return render(request, "marketplace/market.html", context)


@require_safe
@login_not_required
def market_gpu(request: HttpRequest, slug: str) -> HttpResponse:
    gpu = get_object_or_404(GpuModel, slug=slug)
    context = {
        "gpu": gpu,
        "levels": depth.levels_of(gpu_id=gpu.pk, at=clock.now()),
        "waiting": depth.waiting_for(gpu_id=gpu.pk),
        "matches": depth.last_matches(gpu_id=gpu.pk),
    }
    return render(request, "marketplace/market_gpu.html", context)
