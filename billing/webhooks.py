"""
Where payment providers tell us what happened: checked, stored, then acted on.

Anybody can post here, so everything is refused that was not signed by the provider in
the last five minutes, the cheap checks first. An event is answered with 200 when it is
stored and, as far as it can be, acted on; an error on our side is answered with 500,
so that the provider sends it again beside our own retries.
"""

import json
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

import clock
from billing.services import events
from billing.signatures import SignatureInvalid, verify

LARGEST_BODY = 1_000_000


class Refused(Exception):
    """
    The request is no event of the provider's; `status` says what is wrong with it.
    """

    def __init__(self, status: HTTPStatus, reason: str) -> None:
        super().__init__(reason)
        self.status = status


@csrf_exempt  # The signature says who is asking.
@login_not_required
@require_POST
def webhook(request: HttpRequest, provider: str) -> HttpResponse:
    secrets = _secrets(provider)
    try:
        body = _signed_body(request, secrets)
        event = _event(body)
    except Refused as error:
        return HttpResponse(
            f"{error}\n", status=error.status, content_type="text/plain"
        )
    now = clock.now()
    row = events.store_event(
        provider=provider, body=body, event_id=event["id"], kind=event["type"], at=now
    )
    if not events.process_event(event_id=row.pk, at=now):
        return HttpResponse("Stored, and tried again.\n", status=500)
    return HttpResponse("OK\n", content_type="text/plain")


def _secrets(provider: str) -> list[str]:
    """
    Return the secrets of a provider that this site takes money through.
    """
    if provider == "stripe" and settings.STRIPE_WEBHOOK_SECRETS:
        return list(settings.STRIPE_WEBHOOK_SECRETS)
    # The demo's secret is public: outside the demo it would let anybody in.
    if provider == "sandbox" and settings.PAYMENT_GATEWAY == "sandbox":
        return [settings.SANDBOX_WEBHOOK_SECRET]
    raise Http404


def _signed_body(request: HttpRequest, secrets: list[str]) -> str:
    """
    Return the text of a request that carries a right signature.

    :raises Refused: if it does not
    """
    if request.content_type != "application/json":
        raise Refused(HTTPStatus.BAD_REQUEST, "Send application/json.")
    body = _read(request)
    try:
        # The provider's clock is real time, which the demo's clock runs ahead of.
        verify(
            body,
            header=request.headers.get("Stripe-Signature", ""),
            secrets=secrets,
            at=timezone.now(),
        )
        return body.decode()
    except SignatureInvalid as error:
        raise Refused(HTTPStatus.BAD_REQUEST, str(error)) from None
    except UnicodeDecodeError:
        raise Refused(HTTPStatus.BAD_REQUEST, "The body is not UTF-8.") from None


def _read(request: HttpRequest) -> bytes:
    length = request.headers.get("Content-Length") or "0"
    if not length.isdecimal():
        raise Refused(HTTPStatus.BAD_REQUEST, "Content-Length is no number.")
    if int(length) > LARGEST_BODY:
        raise Refused(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, "The body is too big.")
    return request.body


def _event(body: str) -> dict[str, Any]:
    """
    Return the event in the text.

    :raises Refused: if it is none
    """
    try:
        event = json.loads(body)
    except (ValueError, RecursionError):
        raise Refused(HTTPStatus.BAD_REQUEST, "The body is not JSON.") from None
    if not isinstance(event, dict) or not all(
        isinstance(event.get(name), kind)
        for name, kind in [("id", str), ("type", str), ("data", dict)]
    ):
        raise Refused(HTTPStatus.BAD_REQUEST, "The body is no event.")
    return event
