"""
What the sandbox says, in the shapes of Stripe's API, so that one webhook reads both.
"""

import json
from typing import Any

from billing.models.sandbox import SandboxMovement, SandboxPayment
from money import to_minor

API_VERSION = "2026-09-30.corehour-sandbox"
INTENT_STATUS = {"PAID": "succeeded", "PROCESSING": "processing"}


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


def full_session(payment: SandboxPayment) -> dict[str, Any]:
    """
    Return the checkout session with its payment intent written out.
    """
    body = session(payment)
    if body["payment_intent"]:
        body["payment_intent"] = payment_intent(payment)
    return body


def payment_intent(payment: SandboxPayment) -> dict[str, Any]:
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
        "last_payment_error": {"code": "card_declined", "message": payment.failure}
        if payment.failure
        else None,
        "latest_charge": payment.charge_id if is_paid else None,
        "livemode": False,
        "metadata": {"top_up": payment.client_reference},
        "payment_method": f"pm_{payment.reference}" if payment.saves_card_for else None,
        "status": INTENT_STATUS.get(payment.state, "requires_payment_method"),
    }


def charge(payment: SandboxPayment) -> dict[str, Any]:
    """
    Return the charge of a payment that was paid.
    """
    return {
        "id": payment.charge_id,
        "object": "charge",
        "amount": to_minor(payment.total),
        "amount_refunded": to_minor(payment.refunded),
        "currency": str(payment.total.currency).lower(),
        "payment_intent": payment.payment_id,
    }


def refund(movement: SandboxMovement) -> dict[str, Any]:
    """
    Return the refund that a movement is; its name holds that of our row.
    """
    return {
        "id": movement.source,
        "object": "refund",
        "amount": -to_minor(movement.amount),
        "charge": movement.payment.charge_id,
        "currency": str(movement.amount.currency).lower(),
        "failure_reason": None,
        "metadata": {"refund": movement.source.removeprefix("re_")},
        "payment_intent": movement.payment.payment_id,
        "status": "succeeded",
    }


def dispute(payment: SandboxPayment) -> dict[str, Any]:
    """
    Return the dispute of a payment, with what moved for it.
    """
    movements = payment.movements.filter(source=payment.dispute_id).order_by("pk")
    taken = movements[0]
    return {
        "id": payment.dispute_id,
        "object": "dispute",
        "amount": -to_minor(taken.amount),
        "balance_transactions": [balance_transaction(row) for row in movements],
        "charge": payment.charge_id,
        "currency": str(taken.amount.currency).lower(),
        "payment_intent": payment.payment_id,
        "reason": "fraudulent",
        "status": payment.dispute_status,
    }


def balance_transaction(movement: SandboxMovement) -> dict[str, Any]:
    """
    Return a movement as the provider's list of them has it.
    """
    minor, fee = to_minor(movement.amount), to_minor(movement.fee)
    return {
        "id": f"txn_{movement.pk}",
        "object": "balance_transaction",
        "amount": minor,
        "created": int(movement.happened_at.timestamp()),
        "currency": str(movement.amount.currency).lower(),
        "fee": fee,
        "net": minor - fee,
        "reporting_category": movement.kind,
        "source": movement.source,
    }
