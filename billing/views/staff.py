"""
What staff see of the money.
"""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

import clock
from access import staff_only
from billing.services import check_books
from billing.services.books import comparison, events_for_person, totals
from billing.services.meters import open_faults
from billing.services.rates import newest_rates


@require_safe
@staff_only
def books(request: HttpRequest) -> HttpResponse:
    now = clock.now()
    context = {
        "faults": check_books(),
        "checked_at": now,
        "meter_faults": open_faults(),
        "rates": newest_rates(at=now),
        "totals": totals(),
        "comparison": comparison(at=now),
        "events": events_for_person(),
    }
    return render(request, "billing/books.html", context)
