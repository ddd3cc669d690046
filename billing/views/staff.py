"""
What staff see of the money.
"""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

import clock
from access import staff_only
from billing.forms import ExplainForm
from billing.models import ProviderMovement
from billing.services import check_books
from billing.services.books import (
    comparison,
    events_for_person,
    other_movements,
    totals,
)
from billing.services.meters import open_faults
from billing.services.rates import newest_rates
from billing.services.reconciliation import AlreadyExplained, explain_movement


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


@require_safe
@staff_only
def movements(request: HttpRequest) -> HttpResponse:
    context = {"movements": other_movements()}
    return render(request, "billing/movements.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def explain(request: HttpRequest, movement_id: int) -> HttpResponse:
    assert request.user.is_authenticated
    movement = get_object_or_404(
        ProviderMovement, pk=movement_id, category=ProviderMovement.Category.OTHER
    )
    form = ExplainForm(request.POST or None)
    if form.is_valid():
        try:
            explain_movement(
                movement_id=movement_id,
                actor_id=request.user.pk,
                at=clock.now(),
                **form.cleaned_data,
            )
        except AlreadyExplained as error:
            form.add_error(None, str(error))
        else:
            messages.success(request, _("The movement is booked."))
            return redirect("billing:movements")
    status = 422 if form.is_bound else 200
    context = {"form": form, "movement": movement}
    return render(request, "billing/explain_movement.html", context, status=status)
