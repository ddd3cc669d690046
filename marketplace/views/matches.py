from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

import clock
from access import staff_only
from marketplace import services
from marketplace.models import Match, Replay

PER_PAGE = 50


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def matches(request: HttpRequest) -> HttpResponse:
    if request.method == "POST":
        services.replay_matches(at=clock.now())
        messages.success(request, _("Every match was derived from the log again."))
        return redirect("marketplace:staff_matches")
    rows = Match.objects.select_related(
        "workspace", "offer__gpu", "offer__region", "offer__supplier"
    ).order_by("-pk")
    context = {
        "replay": Replay.objects.order_by("-pk").first(),
        "page": Paginator(rows, PER_PAGE).get_page(request.GET.get("page")),
    }
    return render(request, "marketplace/staff/matches.html", context)
