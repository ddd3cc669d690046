from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

import clock
from marketplace import standing


@require_safe
def dashboard(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    context = {"standing": standing.standing_of(user=request.user, at=clock.now())}
    return render(request, "marketplace/dashboard.html", context)
