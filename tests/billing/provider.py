"""
What a payment provider says, in Stripe's published shapes, and ways to say it.
"""

import json
from datetime import timedelta
from itertools import count

from django.urls import reverse
from django.utils import timezone
from djmoney.money import Money

from billing.gateway import ProviderObject
from billing.gateways.sandbox import SandboxGateway
from billing.models import ProviderEvent, TopUp
from billing.services.events import process_event, store_event
from billing.services.profiles import save_profile
from billing.services.top_ups import confirm_top_up, start_top_up
from billing.signatures import sign
from money import to_minor
from tests.billing.conftest import NOON

SECRET = "whsec_demo_only_not_a_secret"
numbers = count(1)
known = {}
fetch_from_sandbox = SandboxGateway.fetch


def fetch(gateway, *, kind, provider_ref):
    """
    Answer with what a test said that the provider knows, else with what it does know.
    """
    body = known.get((kind, provider_ref))
    if body is None:
        return fetch_from_sandbox(gateway, kind=kind, provider_ref=provider_ref)
    return ProviderObject(kind=kind, body=json.loads(json.dumps(body)))


def quote(wallet, amount="100.00", *, country="US", at=NOON, **profile):
    save_profile(user_id=wallet.user_id, country=country, **profile)
    return start_top_up(
        user_id=wallet.user_id,
        net=Money(amount, wallet.currency),
        email="renter@example.com",
        language="en",
        at=at,
    )


def pending(wallet, amount="100.00", **options):
    top_up = quote(wallet, amount, **options)
    return confirm_top_up(top_up_id=top_up.pk, at=options.get("at", NOON))


def paid(wallet, amount="100.00", **options):
    top_up = pending(wallet, amount, **options)
    tell("checkout.session.completed", session(top_up))
    tell("payment_intent.succeeded", intent(top_up))
    return TopUp.objects.get(pk=top_up.pk)


def payment_id(top_up):
    return f"pi_of_{top_up.pk}"


def session(top_up, **changes):
    return {
        "id": top_up.provider_ref,
        "object": "checkout.session",
        "amount_subtotal": to_minor(top_up.total),
        "amount_total": to_minor(top_up.total),
        "client_reference_id": str(top_up.uuid),
        "currency": str(top_up.total.currency).lower(),
        "livemode": False,
        "metadata": {"top_up": str(top_up.uuid)},
        "mode": "payment",
        "payment_intent": intent(top_up),
        "payment_status": "paid",
        "status": "complete",
        "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0},
    } | changes


def session_of(top_up, payment):
    """
    Return the session of what was paid on the sandbox's page.
    """
    paid_by = intent(top_up, id=payment.payment_id, latest_charge=payment.charge_id)
    return session(top_up, payment_intent=paid_by)


def intent(top_up, **changes):
    return {
        "id": payment_id(top_up),
        "object": "payment_intent",
        "amount": to_minor(top_up.total),
        "amount_received": to_minor(top_up.total),
        "currency": str(top_up.total.currency).lower(),
        "last_payment_error": None,
        "latest_charge": f"ch_of_{top_up.pk}",
        "metadata": {"top_up": str(top_up.uuid)},
        "status": "succeeded",
    } | changes


def charge(top_up, *, refunded, **changes):
    return {
        "id": f"ch_of_{top_up.pk}",
        "object": "charge",
        "amount": to_minor(top_up.total),
        "amount_refunded": refunded,
        "currency": str(top_up.total.currency).lower(),
        "payment_intent": payment_id(top_up),
    } | changes


def refund(top_up, *, refund_id, minor, reference=None, status="succeeded"):
    return {
        "id": refund_id,
        "object": "refund",
        "amount": minor,
        "charge": f"ch_of_{top_up.pk}",
        "currency": str(top_up.total.currency).lower(),
        "failure_reason": "expired_or_canceled_card" if status == "failed" else None,
        "metadata": {"refund": reference} if reference else {},
        "payment_intent": payment_id(top_up),
        "status": status,
    }


def dispute(top_up, *, minor, status="needs_response", fee=1500, **changes):
    return {
        "id": f"dp_of_{top_up.pk}",
        "object": "dispute",
        "amount": minor,
        "balance_transactions": [
            {"amount": -minor, "fee": fee, "net": -minor - fee, "currency": "usd"}
        ],
        "charge": f"ch_of_{top_up.pk}",
        "currency": str(top_up.total.currency).lower(),
        "payment_intent": payment_id(top_up),
        "reason": "fraudulent",
        "status": status,
    } | changes


def event(kind, body, *, event_id=None, livemode=False, truth=None):
    """
    Return an event about `body`, which the provider knows so, or else as `truth`.
    """
    if "object" in body:
        known[body["object"], body["id"]] = truth or body
    return {
        "id": event_id or f"evt_{next(numbers)}",
        "object": "event",
        "api_version": "2026-10-28.endive",
        "created": int(NOON.timestamp()),
        "data": {"object": body},
        "livemode": livemode,
        "type": kind,
    }


def tell(kind, body, *, at=NOON, **options):
    """
    Store the event and act on it, as the webhook does, and return its row.
    """
    content = event(kind, body, **options)
    row = store_event(
        provider="sandbox",
        body=json.dumps(content),
        event_id=content["id"],
        kind=kind,
        at=at,
    )
    process_event(event_id=row.pk, at=at)
    return ProviderEvent.objects.get(pk=row.pk)


def post(client, content, *, secret=SECRET, seconds=0, provider="sandbox", **headers):
    """
    Send the event, or any bytes, to the webhook, signed as the provider signs.
    """
    body = content if isinstance(content, bytes) else json.dumps(content).encode()
    at = timezone.now() + timedelta(seconds=seconds)
    headers = {"HTTP_STRIPE_SIGNATURE": sign(body, secret=secret, at=at)} | headers
    return client.post(
        reverse("webhook", args=[provider]),
        data=body,
        content_type=headers.pop("content_type", "application/json; charset=utf-8"),
        **headers,
    )
