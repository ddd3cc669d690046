from urllib.parse import urlencode

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import patch_vary_headers
from django.views.decorators.http import require_safe
from django_htmx.middleware import HtmxDetails

import clock
from catalog.forms import PlannerForm
from catalog.models import BaseModel
from catalog.planner import Wanted, make_plan


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
