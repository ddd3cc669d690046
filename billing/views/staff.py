"""
What staff see of the money.
"""

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

import clock
from billing.services import check_books
from billing.services.books import events_for_person, totals
from billing.services.meters import open_faults
from billing.services.rates import newest_rates


@require_safe
def books(request: HttpRequest) -> HttpResponse:
    if not request.user.is_staff:
        raise Http404
    now = clock.now()
    context = {
        "faults": check_books(),
        "checked_at": now,
        "meter_faults": open_faults(),
        "rates": newest_rates(at=now),
        "totals": totals(),
        "events": events_for_person(),
    }
    return render(request, "billing/books.html", context)
