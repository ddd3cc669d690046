from typing import Any

from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

import clock
import formats
from catalog.forms.serving import ServingForm, served_models
from catalog.guides import Guide, read_guide, read_guide_list
from catalog.models import WorkloadText
from catalog.serving import plan_serving
from catalog.structured import describe_guide


@require_safe
@login_not_required
def workloads(request: HttpRequest) -> HttpResponse:
    guides = read_guide_list(language=formats.language())
    return render(request, "catalog/workloads.html", {"guides": guides})


@require_safe
@login_not_required
def workload(request: HttpRequest, slug: str) -> HttpResponse:
    guide = find_guide(slug)
    return render(request, "catalog/workload.html", guide_context(request, guide))


def find_guide(slug: str) -> Guide:
    """
    Return the guide in the reader's language.

    :raises Http404: if it is not published
    """
    try:
        return read_guide(slug=slug, language=formats.language(), at=clock.now())
    except WorkloadText.DoesNotExist as error:
        raise Http404("There is no such guide.") from error


def guide_context(request: HttpRequest, guide: Guide) -> dict[str, Any]:
    """
    Return what the page of a guide shows, with the calculator where it has one.
    """
    context: dict[str, Any] = {"guide": guide, "described": describe_guide(guide)}
    if guide.is_served:
        form = ServingForm(request.GET, models=served_models())
        context["form"] = form
        if form.is_valid():
            context["serving"] = plan_serving(form.wanted(), rows=guide.rows)
    return context
