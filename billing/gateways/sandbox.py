"""
The demo's payment provider: no money moves, everything else is as with a real one.

It has its own payment page, keeps its own books in `SandboxPayment`, and tells the
site what happened by a signed HTTP request. Those requests are rows first, so an
answer that never came, a dead broker or a killed worker only delays them.
"""

import logging
import uuid
from datetime import datetime, timedelta
from typing import Any

import requests
from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

import clock
from billing.gateway import (
    CardDeclined,
    CardOrder,
    Checkout,
    CheckoutOrder,
    GatewayError,
    ProviderObject,
    RefundOrder,
)
from billing.gateways import shapes
from billing.models.sandbox import SandboxDelivery, SandboxPayment
from billing.signatures import sign
from money import to_minor

logger = logging.getLogger(__name__)
State = SandboxPayment.State

SETTLES_AFTER = timedelta(seconds=10)
LEASE = timedelta(seconds=30)
TIMEOUT_SECONDS = (2, 10)
DELIVERIES_A_RUN = 50
DECLINING_CARD = "pm_declined"


class NotOpen(Exception):
    """
    The payment was already paid, declined or left to expire.
    """


class SandboxGateway:
    name = "sandbox"
    is_live = False

    def open_customer(self, *, key: str, email: str) -> str:
        return f"cus_{uuid.uuid5(uuid.NAMESPACE_URL, key).hex}"

    def describe_card(self, card_ref: str) -> str:
        return "Sandbox •••• 4242"

    def forget_card(self, card_ref: str) -> None:
        # The sandbox keeps no cards.
        return

    def open_checkout(self, order: CheckoutOrder) -> Checkout:
        payment = _payment_once(
            key=order.key,
            client_reference=order.reference,
            total=order.total,
            description=order.description,
            return_url=order.return_url,
            saves_card_for=order.saves_card_for,
            expires_at=order.expires_at,
        )
        path = reverse("billing:sandbox_pay", args=[payment.reference])
        return Checkout(
            provider_ref=payment.session_id, url=f"{settings.SITE_URL}{path}"
        )

    def charge_card(self, order: CardOrder) -> ProviderObject:
        payment = _payment_once(
            key=order.key,
            client_reference=order.reference,
            total=order.total,
            saves_card_for=order.customer_ref,
        )
        if order.card_ref == DECLINING_CARD:
            _move(payment, to=State.FAILED)
            raise CardDeclined(_("The card was declined."))
        if payment.state == State.OPEN:
            with transaction.atomic():
                _move(payment, to=State.PAID)
                _send_payment(payment, "payment_intent.succeeded", at=clock.now())
        return ProviderObject(
            kind="payment_intent", body=shapes.payment_intent(payment)
        )

    def refund(self, order: RefundOrder) -> ProviderObject:
        reference = order.payment_id.removeprefix("pi_")
        minor = to_minor(order.total)
        with transaction.atomic():
            payment = SandboxPayment.objects.select_for_update().get(
                reference=reference
            )
            body = shapes.refund(
                payment, reference=order.reference, minor=minor, status="succeeded"
            )
            event_id = f"evt_refund_{order.reference}"
            if not payment.deliveries.filter(event_id=event_id).exists():
                _take_back(payment, order.total)
                _send(
                    payment, "refund.updated", body, at=clock.now(), event_id=event_id
                )
        return ProviderObject(kind="refund", body=body)

    def fetch(self, *, kind: str, provider_ref: str) -> ProviderObject:
        reference = provider_ref.rpartition("_")[2]
        payment = SandboxPayment.objects.filter(reference=reference).first()
        if payment is None:
            raise GatewayError(_("The sandbox does not know this payment."))
        shape = shapes.session if kind == "checkout.session" else shapes.payment_intent
        return ProviderObject(kind=kind, body=shape(payment))


@transaction.atomic
def pay(*, reference: str, at: datetime) -> SandboxPayment:
    """
    Pay at once, as with a card.

    :raises NotOpen: if the payment has ended
    """
    payment = _leave_open(reference, to=State.PAID)
    _send_payment(payment, "payment_intent.succeeded", at=at)
    _send_session(payment, "checkout.session.completed", at=at)
    return payment


@transaction.atomic
def decline(*, reference: str, at: datetime) -> SandboxPayment:
    """
    Have the bank refuse the card, and close the payment.

    :raises NotOpen: if the payment has ended
    """
    payment = _leave_open(reference, to=State.EXPIRED)
    _send_payment(
        payment,
        "payment_intent.payment_failed",
        at=at,
        failure="The card was declined.",
    )
    _send_session(payment, "checkout.session.expired", at=at)
    return payment


@transaction.atomic
def pay_later(*, reference: str, is_to_fail: bool, at: datetime) -> SandboxPayment:
    """
    Finish the checkout with money that arrives, or fails to, in ten seconds.

    :raises NotOpen: if the payment has ended
    """
    payment = _leave_open(reference, to=State.PROCESSING)
    payment.settles_at = at + SETTLES_AFTER
    payment.is_to_fail = is_to_fail
    payment.save(update_fields=["settles_at", "is_to_fail"])
    _send_session(payment, "checkout.session.completed", at=at)
    return payment


@transaction.atomic
def settle_due(*, at: datetime) -> None:
    """
    Let what was paid later arrive or fail, and what nobody paid expire.
    """
    waiting = SandboxPayment.objects.select_for_update(skip_locked=True).order_by("pk")
    for payment in waiting.filter(state=State.PROCESSING, settles_at__lte=at):
        if payment.is_to_fail:
            _move(payment, to=State.FAILED)
            _send_session(payment, "checkout.session.async_payment_failed", at=at)
        else:
            _move(payment, to=State.PAID)
            _send_session(payment, "checkout.session.async_payment_succeeded", at=at)
    for payment in waiting.filter(state=State.OPEN, expires_at__lte=at):
        _move(payment, to=State.EXPIRED)
        _send_session(payment, "checkout.session.expired", at=at)


def deliver_due(*, at: datetime) -> int:
    """
    Send the events that are due and return how many were taken.

    A row is claimed for half a minute before anything is sent, so that two senders do
    not send it at once; what fails is tried again, later each time.
    """
    due = SandboxDelivery.objects.due(at).order_by("next_try_at", "pk")
    number = 0
    for delivery in due[:DELIVERIES_A_RUN]:
        claimed = SandboxDelivery.objects.due(at).filter(pk=delivery.pk)
        if claimed.update(next_try_at=at + LEASE, tries=delivery.tries + 1):
            delivery.tries += 1
            _deliver(delivery, at=at)
            number += 1
    return number


def _deliver(delivery: SandboxDelivery, *, at: datetime) -> None:
    body = delivery.body.encode()
    # The receiver compares with its real clock, which the demo's is ahead of.
    signature = sign(body, secret=settings.SANDBOX_WEBHOOK_SECRET, at=timezone.now())
    try:
        response = requests.post(
            f"{settings.SITE_URL}{reverse('webhook', args=['sandbox'])}",
            data=body,
            headers={
                "Content-Type": "application/json; charset=utf-8",
                "Stripe-Signature": signature,
            },
            timeout=TIMEOUT_SECONDS,
            allow_redirects=False,
        )
        delivery.answer = str(response.status_code)
    except requests.RequestException as error:
        delivery.answer = type(error).__name__
    if delivery.answer == "200":
        delivery.delivered_at = at
    else:
        logger.warning("Sandbox event not delivered: %s", delivery.answer)
        delivery.next_try_at = at + timedelta(seconds=min(2**delivery.tries, 3600))
    delivery.save(update_fields=["answer", "delivered_at", "next_try_at"])


def _payment_once(*, key: str, total: Money, **content: Any) -> SandboxPayment:
    defaults = {"total": total, "refunded": Money(0, total.currency), **content}
    payment, is_new = SandboxPayment.objects.get_or_create(key=key, defaults=defaults)
    if not is_new and payment.total != total:
        raise GatewayError(_("This payment was already started with another amount."))
    return payment


def _leave_open(reference: str, *, to: SandboxPayment.State) -> SandboxPayment:
    payment = SandboxPayment.objects.select_for_update().get(reference=reference)
    if payment.state != State.OPEN:
        raise NotOpen
    _move(payment, to=to)
    return payment


def _move(payment: SandboxPayment, *, to: SandboxPayment.State) -> None:
    payment.state = to
    payment.save(update_fields=["state"])


def _take_back(payment: SandboxPayment, amount: Money) -> None:
    if payment.state != State.PAID or payment.refunded + amount > payment.total:
        raise GatewayError(_("More cannot be refunded than was paid."))
    payment.refunded += amount
    payment.save(update_fields=["refunded"])


def _send_session(payment: SandboxPayment, kind: str, *, at: datetime) -> None:
    _send(payment, kind, shapes.session(payment), at=at)


def _send_payment(
    payment: SandboxPayment, kind: str, *, at: datetime, failure: str = ""
) -> None:
    _send(payment, kind, shapes.payment_intent(payment, failure=failure), at=at)


def _send(
    payment: SandboxPayment,
    kind: str,
    body: dict[str, Any],
    *,
    at: datetime,
    event_id: str | None = None,
) -> None:
    event_id = event_id or f"evt_{uuid.uuid4().hex}"
    text = shapes.event(
        event_id=event_id, kind=kind, body=body, created=int(at.timestamp())
    )
    payment.deliveries.create(event_id=event_id, body=text, next_try_at=at)
