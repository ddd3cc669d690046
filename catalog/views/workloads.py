from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import get_language
from django.views.decorators.http import require_safe

import clock
from catalog.guides import read_guide, read_guide_list
from catalog.models import WorkloadText


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


def _language() -> str:
    return get_language() or "en"
