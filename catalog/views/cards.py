"""
The pictures that links to guides and GPUs are shown with.
"""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.shortcuts import get_object_or_404
from django.utils.cache import patch_cache_control
from django.utils.http import parse_etags
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

import clock
import formats
from catalog.asks import Ask
from catalog.best_asks import best_asks_of
from catalog.cards import Card, draw
from catalog.guides import Guide
from catalog.models import GpuModel
from catalog.views.workloads import find_guide

KEPT_SECONDS = 3600


@require_safe
@login_not_required
def workload_card(request: HttpRequest, slug: str) -> HttpResponse:
    return _answer(request, _guide_card(find_guide(slug)))


@require_safe
@login_not_required
def gpu_card(request: HttpRequest, slug: str) -> HttpResponse:
    gpu = get_object_or_404(GpuModel, slug=slug)
    best = next(iter(best_asks_of(gpu_id=gpu.pk, at=clock.now())), None)
    return _answer(request, _gpu_card(gpu, best))


def _guide_card(guide: Guide) -> Card:
    language = formats.language()
    example = guide.example
    figures = (
        []
        if example is None
        else [
            (
                formats.money(window.cost.total, language),
                f"{example.gpu.label}, {formats.number(window.hours, language)} h",
            )
            for window in example.windows
        ]
    )
    return Card(
        site=settings.SITE_NAME,
        kicker=_("GPUs by the hour"),
        title=guide.text.title,
        figures=tuple(figures),
    )


def _gpu_card(gpu: GpuModel, best: Ask | None) -> Card:
    language = formats.language()
    figures = [
        (formats.gigabytes(gpu.memory_gb, language), gpu.memory_type),
        (f"{formats.number(gpu.bandwidth_gbs, language)} GB/s", _("Bandwidth")),
    ]
    if best:
        label = _("an hour, best live ask")
        figures.append((formats.rate(best.rate, language), label))
    return Card(
        site=settings.SITE_NAME,
        kicker=gpu.architecture,
        title=f"{gpu.vendor} {gpu.name}",
        figures=tuple(figures),
    )


def _answer(request: HttpRequest, card: Card) -> HttpResponse:
    known = parse_etags(request.headers.get("If-None-Match", ""))
    is_known = card.etag in known or known == ["*"]
    response = (
        HttpResponseNotModified()
        if is_known
        else HttpResponse(draw(card), content_type="image/png")
    )
    response["ETag"] = card.etag
    patch_cache_control(response, public=True, max_age=KEPT_SECONDS)
    return response
