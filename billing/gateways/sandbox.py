"""
The demo's payment provider: no money moves, everything else is as with a real one.

It has its own payment page, keeps its own books in `SandboxPayment` and
`SandboxMovement`, and tells the site what happened by a signed HTTP request. Those
requests are rows first, so an answer that never came, a dead broker or a killed worker
only delays them: see `billing.gateways.deliveries`.
"""

import uuid
from collections.abc import Iterator
from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db import transaction
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

import clock
from billing.gateway import (
    CATEGORIES,
    CardDeclined,
    CardOrder,
    Category,
    Checkout,
    CheckoutOrder,
    GatewayError,
    Movement,
    NotAtProvider,
    ProviderObject,
    RefundOrder,
)
from billing.gateways import shapes
from billing.models.sandbox import SandboxMovement, SandboxPayment
from money import round_half_up

State = SandboxPayment.State

SETTLES_AFTER = timedelta(seconds=10)
DECLINING_CARD = "pm_declined"
# What it keeps of a payment, and takes for a dispute, in the payment's currency.
FEE_RATE = Decimal("0.015")
FEE_EACH = Decimal("0.25")
DISPUTE_FEE = Decimal("15.00")


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
        payment = _charge_once(payment.reference)
        return ProviderObject(
            kind="payment_intent", body=shapes.payment_intent(payment)
        )

    def refund(self, order: RefundOrder) -> ProviderObject:
        with transaction.atomic():
            payment = SandboxPayment.objects.select_for_update().get(
                reference=_reference(order.payment_id)
            )
            movement = payment.movements.filter(source=f"re_{order.reference}").first()
            if movement is None:
                now = clock.now()
                movement = _take_back(payment, order, at=now)
                _send(payment, "refund.updated", shapes.refund(movement), at=now)
        return ProviderObject(kind="refund", body=shapes.refund(movement))

    def fetch(self, *, kind: str, provider_ref: str) -> ProviderObject:
        body = (
            _known_refund(provider_ref)
            if kind == "refund"
            else _known_of_payment(kind, provider_ref)
        )
        if body is None:
            raise NotAtProvider(_("The sandbox does not know this payment."))
        return ProviderObject(kind=kind, body=body)

    def movements(self, *, since: datetime, until: datetime) -> Iterator[Movement]:
        rows = SandboxMovement.objects.filter(
            happened_at__gte=since, happened_at__lt=until
        )
        for row in rows.select_related("payment").order_by("pk"):
            yield Movement(
                ref=f"txn_{row.pk}",
                kind=row.kind,
                category=CATEGORIES.get(row.kind, Category.OTHER),
                source=row.source,
                payment_id=row.payment.payment_id,
                amount=row.amount,
                fee=row.fee,
                happened_at=row.happened_at,
            )


@transaction.atomic
def pay(*, reference: str, at: datetime) -> SandboxPayment:
    """
    Pay at once, as with a card.

    :raises NotOpen: if the payment has ended
    """
    payment = _lock(reference, State.OPEN)
    _collect(payment, at=at)
    _send_payment(payment, "payment_intent.succeeded", at=at)
    _send_session(payment, "checkout.session.completed", at=at)
    return payment


@transaction.atomic
def decline(*, reference: str, at: datetime) -> SandboxPayment:
    """
    Have the bank refuse the card, and close the payment.

    :raises NotOpen: if the payment has ended
    """
    payment = _lock(reference, State.OPEN)
    payment.failure = "The card was declined."
    payment.save(update_fields=["failure"])
    _move(payment, to=State.EXPIRED)
    _send_payment(payment, "payment_intent.payment_failed", at=at)
    _send_session(payment, "checkout.session.expired", at=at)
    return payment


@transaction.atomic
def pay_later(*, reference: str, is_to_fail: bool, at: datetime) -> SandboxPayment:
    """
    Finish the checkout with money that arrives, or fails to, in ten seconds.

    :raises NotOpen: if the payment has ended
    """
    payment = _lock(reference, State.OPEN)
    _move(payment, to=State.PROCESSING)
    payment.settles_at = at + SETTLES_AFTER
    payment.is_to_fail = is_to_fail
    payment.save(update_fields=["settles_at", "is_to_fail"])
    _send_session(payment, "checkout.session.completed", at=at)
    return payment


@transaction.atomic
def dispute(*, reference: str, at: datetime) -> SandboxPayment:
    """
    Have the customer's bank take a payment back, less what was refunded of it.

    :raises NotOpen: if nothing of it is left here, or it is disputed already
    """
    payment = _lock(reference, State.PAID)
    if payment.dispute_status or not payment.left:
        raise NotOpen
    payment.dispute_status = "needs_response"
    payment.save(update_fields=["dispute_status"])
    _book(
        payment,
        "dispute",
        source=payment.dispute_id,
        amount=-payment.left,
        fee=Money(DISPUTE_FEE, payment.total.currency),
        at=at,
    )
    _send(payment, "charge.dispute.created", shapes.dispute(payment), at=at)
    return payment


@transaction.atomic
def decide_dispute(*, reference: str, is_won: bool, at: datetime) -> SandboxPayment:
    """
    Have the bank decide a dispute: a won one brings the money back, not the fee.

    :raises NotOpen: if there is none to decide
    """
    payment = _lock(reference, State.PAID)
    if payment.dispute_status != "needs_response":
        raise NotOpen
    payment.dispute_status = "won" if is_won else "lost"
    payment.save(update_fields=["dispute_status"])
    if is_won:
        taken = payment.movements.get(kind="dispute")
        _book(
            payment,
            "dispute_reversal",
            source=payment.dispute_id,
            amount=-taken.amount,
            fee=taken.fee * 0,
            at=at,
        )
    _send(payment, "charge.dispute.closed", shapes.dispute(payment), at=at)
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
            _collect(payment, at=at)
            _send_session(payment, "checkout.session.async_payment_succeeded", at=at)
    for payment in waiting.filter(state=State.OPEN, expires_at__lte=at):
        _move(payment, to=State.EXPIRED)
        _send_session(payment, "checkout.session.expired", at=at)


def _payment_once(*, key: str, total: Money, **content: Any) -> SandboxPayment:
    defaults = {"total": total, "refunded": Money(0, total.currency), **content}
    payment, is_new = SandboxPayment.objects.get_or_create(key=key, defaults=defaults)
    if not is_new and payment.total != total:
        raise GatewayError(_("This payment was already started with another amount."))
    return payment


@transaction.atomic
def _charge_once(reference: str) -> SandboxPayment:
    payment = SandboxPayment.objects.select_for_update().get(reference=reference)
    # Whoever asked at the same time may have been faster.
    if payment.state == State.OPEN:
        now = clock.now()
        _collect(payment, at=now)
        _send_payment(payment, "payment_intent.succeeded", at=now)
    return payment


def _known_refund(provider_ref: str) -> dict[str, Any] | None:
    rows = SandboxMovement.objects.filter(kind="refund", source=provider_ref)
    movement = rows.select_related("payment").first()
    return shapes.refund(movement) if movement else None


def _known_of_payment(kind: str, provider_ref: str) -> dict[str, Any] | None:
    payment = SandboxPayment.objects.filter(reference=_reference(provider_ref)).first()
    if payment is None:
        return None
    if kind == "checkout.session":
        return shapes.full_session(payment)
    if kind == "payment_intent":
        return shapes.payment_intent(payment)
    if kind == "charge":
        return shapes.charge(payment) if payment.state == State.PAID else None
    return shapes.dispute(payment) if payment.dispute_status else None


def _reference(provider_ref: str) -> str:
    return provider_ref.rpartition("_")[2]


def _lock(reference: str, state: SandboxPayment.State) -> SandboxPayment:
    payment = SandboxPayment.objects.select_for_update().get(reference=reference)
    if payment.state != state:
        raise NotOpen
    return payment


def _move(payment: SandboxPayment, *, to: SandboxPayment.State) -> None:
    payment.state = to
    payment.save(update_fields=["state"])


def _collect(payment: SandboxPayment, *, at: datetime) -> None:
    _move(payment, to=State.PAID)
    total = payment.total
    fee = round_half_up(total.amount * FEE_RATE) + FEE_EACH
    _book(
        payment,
        "charge",
        source=payment.charge_id,
        amount=total,
        fee=Money(fee, total.currency),
        at=at,
    )


def _take_back(
    payment: SandboxPayment, order: RefundOrder, *, at: datetime
) -> SandboxMovement:
    if payment.state != State.PAID or order.total > payment.left:
        raise GatewayError(_("More cannot be refunded than was paid."))
    payment.refunded += order.total
    payment.save(update_fields=["refunded"])
    source = f"re_{order.reference}"
    back, no_fee = -order.total, order.total * 0
    return _book(payment, "refund", source=source, amount=back, fee=no_fee, at=at)


def _book(
    payment: SandboxPayment,
    kind: str,
    *,
    source: str,
    amount: Money,
    fee: Money,
    at: datetime,
) -> SandboxMovement:
    movement: SandboxMovement = payment.movements.create(
        kind=kind, source=source, amount=amount, fee=fee, happened_at=at
    )
    return movement


def _send_session(payment: SandboxPayment, kind: str, *, at: datetime) -> None:
    _send(payment, kind, shapes.session(payment), at=at)


def _send_payment(payment: SandboxPayment, kind: str, *, at: datetime) -> None:
    _send(payment, kind, shapes.payment_intent(payment), at=at)


def _send(
    payment: SandboxPayment, kind: str, body: dict[str, Any], *, at: datetime
) -> None:
    event_id = f"evt_{uuid.uuid4().hex}"
    text = shapes.event(
        event_id=event_id, kind=kind, body=body, created=int(at.timestamp())
    )
    payment.deliveries.create(event_id=event_id, body=text, next_try_at=at)
