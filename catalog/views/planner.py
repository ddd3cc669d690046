from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_POST, require_safe
from django_htmx.middleware import HtmxDetails

import clock
from catalog.forms import OWN, ConfigForm, PlannerState, ShapeForm, shape_query
from catalog.models import BaseModel
from catalog.planner import make_plan


@require_safe
@login_not_required
def planner(request: HttpRequest) -> HttpResponse:
    state = PlannerState(request.GET, models=_models())
    response = _page(request, state, config=ConfigForm())
    if state.is_valid():
        # What is shared and bookmarked says no more than it has to.
        address = f"{request.path}?{urlencode(state.query())}"
        response["HX-Push-Url"] = address
    patch_vary_headers(response, ["HX-Request"])
    return response


@require_POST
@login_not_required
def planner_config(request: HttpRequest) -> HttpResponse:
    config = ConfigForm(request.POST)
    query = {**request.GET.dict(), "source": OWN}
    if config.is_valid():
        others = {
            name: value
            for name, value in query.items()
            if name not in ShapeForm.base_fields
        }
        shape = shape_query(config.cleaned_data["config"])
        address = urlencode({**others, **shape})
        return redirect(f"{reverse('catalog:planner')}?{address}")
    state = PlannerState(query, models=_models())
    return _page(request, state, config=config, status=422)


def _models() -> QuerySet[BaseModel]:
    listed = BaseModel.objects.filter(is_listed=True)
    return listed.order_by("family", "total_params_b")


def _page(
    request: HttpRequest, state: PlannerState, *, config: ConfigForm, status: int = 200
) -> HttpResponse:
    is_valid = state.is_valid()
    context = {
        "form": state.form,
        "shape": state.shape,
        "config": config,
        "state": urlencode(state.query()) if is_valid else request.GET.urlencode(),
        "plan": make_plan(state.wanted(), at=clock.now()) if is_valid else None,
    }
    htmx = HtmxDetails(request)
    is_fragment = bool(htmx) and not htmx.history_restore_request
    template = "catalog/_planner.html" if is_fragment else "catalog/planner.html"
    return render(request, template, context, status=status)
