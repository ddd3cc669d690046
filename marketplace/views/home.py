from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

import clock
from marketplace import depth
from marketplace.forms import FirstQuestionForm


@require_safe
@login_not_required
def home(request: HttpRequest) -> HttpResponse:
    context = {
        "form": FirstQuestionForm(),
        "classes": depth.prices_by_memory(at=clock.now()),
    }
    return render(request, "marketplace/home.html", context)
