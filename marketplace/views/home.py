from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

import clock
from catalog.models import BaseModel
from marketplace import depth


@require_safe
@login_not_required
def home(request: HttpRequest) -> HttpResponse:
    context = {
        "rows": depth.prices(at=clock.now()),
        "models": BaseModel.objects.filter(is_listed=True).order_by("total_params_b"),
    }
    return render(request, "marketplace/home.html", context)
