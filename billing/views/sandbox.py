"""
The sandbox's payment page: what a real provider's page is to a real payment.
"""

from collections.abc import Callable

from django.conf import settings
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.shortcuts import render
from django.views.decorators.http import require_POST, require_safe

import clock
from billing import tasks
from billing.gateways import sandbox
from billing.models import SandboxPayment
from billing.services.top_ups import find_top_up_by_reference


@require_safe
def page(request: HttpRequest, reference: str) -> HttpResponse:
    payment = _own(request, reference)
    return render(request, "billing/sandbox_pay.html", {"payment": payment})


@require_POST
def pay(request: HttpRequest, reference: str) -> HttpResponse:
    return _act(request, reference, sandbox.pay)


@require_POST
def decline(request: HttpRequest, reference: str) -> HttpResponse:
    return _act(request, reference, sandbox.decline)


@require_POST
def pay_later(request: HttpRequest, reference: str) -> HttpResponse:
    return _act(request, reference, sandbox.pay_later, is_to_fail=False)


@require_POST
def fail_later(request: HttpRequest, reference: str) -> HttpResponse:
    return _act(request, reference, sandbox.pay_later, is_to_fail=True)


@require_POST
def dispute(request: HttpRequest, reference: str) -> HttpResponse:
    return _act(request, reference, sandbox.dispute)


@require_POST
def win_dispute(request: HttpRequest, reference: str) -> HttpResponse:
    return _act(request, reference, sandbox.decide_dispute, is_won=True)


@require_POST
def lose_dispute(request: HttpRequest, reference: str) -> HttpResponse:
    return _act(request, reference, sandbox.decide_dispute, is_won=False)


def _act(
    request: HttpRequest,
    reference: str,
    verb: Callable[..., SandboxPayment],
    **options: bool,
) -> HttpResponse:
    payment = _own(request, reference)
    try:
        with transaction.atomic():
            verb(reference=payment.reference, at=clock.now(), **options)
            # Only a nudge: beat sends what is due even if the broker is down now.
            transaction.on_commit(_nudge, robust=True)
    except sandbox.NotOpen:
        context = {"payment": payment, "was_over": True}
        return render(request, "billing/sandbox_pay.html", context, status=409)
    return HttpResponseRedirect(payment.return_url)


def _nudge() -> None:
    tasks.run_sandbox.apply_async(retry=False)


def _own(request: HttpRequest, reference: str) -> SandboxPayment:
    assert request.user.is_authenticated
    if settings.PAYMENT_GATEWAY != "sandbox":
        raise Http404
    payment = SandboxPayment.objects.filter(reference=reference).first()
    if payment is None:
        raise Http404
    top_up = find_top_up_by_reference(
        user_id=request.user.pk, reference=payment.client_reference
    )
    if top_up is None:
        raise Http404
    return payment
