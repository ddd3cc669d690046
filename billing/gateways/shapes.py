"""
What the sandbox says, in the shapes of Stripe's API, so that one webhook reads both.
"""

import json
from typing import Any

from billing.models.sandbox import SandboxPayment
from money import to_minor

API_VERSION = "2026-09-30.corehour-sandbox"
CARD = {"brand": "visa", "last4": "4242", "exp_month": 12, "exp_year": 2034}


def event(*, event_id: str, kind: str, body: dict[str, Any], created: int) -> str:
    """
    Return the JSON text of an event of the type `kind` about the object `body`.
    """
    return json.dumps(
        {
            "id": event_id,
            "object": "event",
            "api_version": API_VERSION,
            "created": created,
            "data": {"object": body},
            "livemode": False,
            "pending_webhooks": 1,
            "request": {"id": None, "idempotency_key": None},
            "type": kind,
        },
        indent=2,
    )


def session(payment: SandboxPayment) -> dict[str, Any]:
    """
    Return the checkout session of a payment.
    """
    is_complete = payment.state not in {"OPEN", "EXPIRED"}
    minor = to_minor(payment.total)
    return {
        "id": payment.session_id,
        "object": "checkout.session",
        "amount_subtotal": minor,
        "amount_total": minor,
        "client_reference_id": payment.client_reference,
        "currency": str(payment.total.currency).lower(),
        "customer": payment.saves_card_for or None,
        "livemode": False,
        "metadata": {"top_up": payment.client_reference},
        "mode": "payment",
        "payment_intent": payment.payment_id if is_complete else None,
        "payment_status": "paid" if payment.state == "PAID" else "unpaid",
        "status": "complete" if is_complete else payment.state.lower(),
        "total_details": {"amount_discount": 0, "amount_shipping": 0, "amount_tax": 0},
    }


def payment_intent(payment: SandboxPayment, *, failure: str = "") -> dict[str, Any]:
    """
    Return the payment intent of a payment.
    """
    is_paid = payment.state == "PAID"
    minor = to_minor(payment.total)
    return {
        "id": payment.payment_id,
        "object": "payment_intent",
        "amount": minor,
        "amount_received": minor if is_paid else 0,
        "currency": str(payment.total.currency).lower(),
        "customer": payment.saves_card_for or None,
        "last_payment_error": {"code": "card_declined", "message": failure}
        if failure
        else None,
        "latest_charge": charge_id(payment) if is_paid else None,
        "livemode": False,
        "metadata": {"top_up": payment.client_reference},
        "payment_method": f"pm_{payment.reference}" if payment.saves_card_for else None,
        "status": "succeeded" if is_paid else "requires_payment_method",
    }


def refund(
    payment: SandboxPayment, *, reference: str, minor: int, status: str
) -> dict[str, Any]:
    """
    Return a refund of `minor` units of a payment; `reference` is our row's.
    """
    return {
        "id": f"re_{reference}",
        "object": "refund",
        "amount": minor,
        "charge": charge_id(payment),
        "currency": str(payment.total.currency).lower(),
        "failure_reason": None,
        "metadata": {"refund": reference},
        "payment_intent": payment.payment_id,
        "status": status,
    }


def charge_id(payment: SandboxPayment) -> str:
    return f"ch_{payment.reference}"
