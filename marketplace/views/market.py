import re
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.http import require_safe
from djmoney.money import Money

import clock
from catalog.models import GpuModel
from catalog.names import region_name
from marketplace import depth, examples
from marketplace.forms import LimitForm
from marketplace.limit_answers import LimitAnswer, WantedNode, answer_of
from marketplace.order_book import OrderBook, order_book_of

# Python refuses to read a number of thousands of digits.
A_SIZE = re.compile("[0-9]{1,4}")


@require_safe
@login_not_required
def market(request: HttpRequest) -> HttpResponse:
    context = {"rows": depth.overview(at=clock.now())}
    return render(request, "marketplace/market.html", context)


@require_safe
@login_not_required
def how_matching_works(request: HttpRequest) -> HttpResponse:
    noon = clock.now().replace(hour=12, minute=0, second=0, microsecond=0)
    context = {
        "hours": examples.HOURS,
        "asks": examples.listed(noon),
        "turns": examples.turns(noon),
    }
    return render(request, "marketplace/how_matching_works.html", context)


@require_safe
@login_not_required
def market_gpu(request: HttpRequest, slug: str) -> HttpResponse:
    gpu = get_object_or_404(GpuModel, slug=slug)
    at = clock.now()
    asked = request.GET.get("gpus", "")
    book = order_book_of(
        gpu_id=gpu.pk,
        at=at,
        gpus=int(asked) if A_SIZE.fullmatch(asked) else None,
        region=request.GET.get("region", ""),
        reader=request.user if request.user.is_authenticated else None,
    )
    form = _form(request, book)
    context = {
        "gpu": gpu,
        "book": book,
        "sizes": [_tab(book, _size(gpus), gpus=gpus) for gpus in book.sizes],
        "regions": [
            _tab(book, _("All regions"), region=""),
            *(_tab(book, region_name(r), region=r.slug) for r in book.regions),
        ],
        "form": form,
        "answer": _answer(form, book, gpu, at=at),
        "matches": depth.last_matches(gpu_id=gpu.pk),
    }
    return render(request, "marketplace/market_gpu.html", context)


def _form(request: HttpRequest, book: OrderBook) -> LimitForm:
    user = request.user
    currency = user.currency if user.is_authenticated else settings.CURRENCIES[0]
    shown = {"gpus": book.gpus, "region": book.region}
    data = {**request.GET.dict(), **shown} if "limit" in request.GET else None
    return LimitForm(data, initial=shown, currency=currency, auto_id="%s")


def _answer(
    form: LimitForm, book: OrderBook, gpu: GpuModel, *, at: datetime
) -> LimitAnswer | None:
    if not form.is_valid():
        return None
    limit = Money(form.cleaned_data["limit"], form.currency)
    wanted = WantedNode(
        limit=limit,
        hours=form.cleaned_data["hours"],
        gpus=book.gpus,
        region=book.region,
    )
    return answer_of(wanted, gpu_id=gpu.pk, page=book, at=at)


def _size(gpus: int) -> str:
    return ngettext("%(count)s GPU", "%(count)s GPUs", gpus) % {"count": gpus}


def _tab(book: OrderBook, label: str, **changes: Any) -> dict[str, Any]:
    shown = {"gpus": book.gpus, "region": book.region}
    changed = {**shown, **changes}
    return {
        "label": label,
        "url": f"?{urlencode(changed)}",
        "is_current": changed == shown,
    }
