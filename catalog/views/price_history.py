"""
What was asked for a GPU over time: the part of its page, and the same as CSV.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe

import clock
from catalog.models import GpuModel, Offer, Region
from catalog.names import region_name
from catalog.price_history import PriceHistory, read_history
from csv_files import csv_lines

DAYS = (30, 90, 365)
DEFAULT_DAYS = 90
COLUMNS = ("at", "region", "currency", "best_ask", "p10", "median", "p90", "asks")


@dataclass(frozen=True, kw_only=True)
class HistoryPart:
    """
    A GPU's price history in one of its regions, with the links to the others.
    """

    region: Region
    days: int
    history: PriceHistory
    regions: list[dict[str, Any]]
    spans: list[dict[str, Any]]
    currencies: list[dict[str, Any]]
    query: str

    @property
    def chart(self) -> dict[str, Any]:
        """
        What the script draws.
        """
        labels = {
            "at": _("Day"),
            "best": _("Best ask"),
            "median": _("Median"),
            "low": _("10th percentile"),
            "high": _("90th percentile"),
        }
        return {**self.history.chart, "labels": labels}


def history_part(
    request: HttpRequest, gpu: GpuModel, *, first: str, at: datetime
) -> HistoryPart | None:
    """
    Return the part that the address asks for; None if nobody ever offered the GPU.

    Without a region in the address it is `first`, if the GPU is offered there.
    """
    offers = Offer.objects.filter(gpu=gpu)
    regions = list(
        Region.objects.filter(pk__in=offers.values("region")).order_by("name")
    )
    if not regions:
        return None
    by_slug = {region.slug: region for region in regions}
    asked = request.GET.get("region", "")
    region = by_slug.get(asked) or by_slug.get(first) or regions[0]
    days = _days(request)
    history = read_history(
        gpu_id=gpu.pk,
        region_id=region.pk,
        days=days,
        currency=request.GET.get("currency", ""),
        at=at,
    )
    state = {"region": region.slug, "days": days, "currency": history.currency}
    return HistoryPart(
        region=region,
        days=days,
        history=history,
        regions=[_tab(region_name(each), state, region=each.slug) for each in regions],
        spans=[_tab(_span(number), state, days=number) for number in DAYS],
        currencies=[_tab(code, state, currency=code) for code in history.currencies],
        query=urlencode(state),
    )


def _tab(label: str, state: dict[str, Any], **changes: Any) -> dict[str, Any]:
    changed = {**state, **changes}
    return {
        "label": label,
        "url": f"?{urlencode(changed)}#history",
        "is_current": changed == state,
    }


def _span(days: int) -> str:
    return ngettext("%(count)s day", "%(count)s days", days) % {"count": days}


def _days(request: HttpRequest) -> int:
    by_text = {str(days): days for days in DAYS}
    return by_text.get(request.GET.get("days", ""), DEFAULT_DAYS)


@require_safe
@login_not_required
def gpu_prices_csv(request: HttpRequest, slug: str) -> HttpResponse:
    gpu = get_object_or_404(GpuModel, slug=slug)
    part = history_part(request, gpu, first="", at=clock.now())
    if part is None:
        raise Http404
    history = part.history
    rows = (
        (point.at, part.region.slug, history.currency, *_figures(point.figures))
        for point in history.points
    )
    response = HttpResponse(
        csv_lines(COLUMNS, rows), content_type="text/csv; charset=utf-8"
    )
    name = f"prices-{gpu.slug}-{part.region.slug}.csv"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response


def _figures(figures: Any) -> tuple[Any, ...]:
    if figures is None:
        return (None, None, None, None, 0)
    return (figures.best, figures.low, figures.median, figures.high, figures.asks)
