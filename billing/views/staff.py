"""
What staff see of the money.
"""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

import clock
from billing.services import check_books
from billing.services.books import events_for_person, totals


@require_safe
def books(request: HttpRequest) -> HttpResponse:
    if not request.user.is_staff:
        raise Http404
    context = {
        "faults": check_books(),
        "checked_at": clock.now(),
        "totals": totals(),
        "events": events_for_person(),
    }
    return render(request, "billing/books.html", context)
