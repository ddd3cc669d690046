"""
The demo's payment provider: payments on its own page and the events it sends.
"""

import uuid
from datetime import datetime
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from billing.models.ledger import ledger_money


def new_reference() -> str:
    return uuid.uuid4().hex


class SandboxPayment(models.Model):
    """
    A payment that the sandbox was asked for, as a checkout or from a saved card.
    """

    class State(models.TextChoices):
        OPEN = "OPEN", _("Open")
        PROCESSING = "PROCESSING", _("On its way")
        PAID = "PAID", _("Paid")
        FAILED = "FAILED", _("Failed")
        EXPIRED = "EXPIRED", _("Expired")

    reference = models.CharField(max_length=32, unique=True, default=new_reference)
    key = models.CharField(_("key"), max_length=100, unique=True)
    client_reference = models.CharField(_("client reference"), max_length=100)
    total = ledger_money(verbose_name=_("total"))
    description = models.CharField(_("description"), max_length=200, blank=True)
    return_url = models.CharField(_("return address"), max_length=500, blank=True)
    saves_card_for = models.CharField(max_length=100, blank=True)
    state = models.CharField(
        _("state"), max_length=10, choices=State.choices, default=State.OPEN
    )
    refunded = ledger_money(verbose_name=_("refunded"))
    settles_at = models.DateTimeField(_("settles"), null=True, blank=True)
    is_to_fail = models.BooleanField(_("fails when it settles"), default=False)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    failure = models.CharField(_("why it failed"), max_length=100, blank=True)
    # In the provider's words; empty as long as nobody disputes the payment.
    dispute_status = models.CharField(_("dispute"), max_length=30, blank=True)

    objects: ClassVar["models.Manager[SandboxPayment]"] = models.Manager()

    class Meta:
        verbose_name = _("sandbox payment")
        verbose_name_plural = _("sandbox payments")

    def __str__(self) -> str:
        return f"{self.total} {self.get_state_display()}"

    @property
    def session_id(self) -> str:
        return f"cs_test_{self.reference}"

    @property
    def payment_id(self) -> str:
        return f"pi_{self.reference}"

    @property
    def left(self) -> Money:
        """
        What was not refunded of it.
        """
        left: Money = self.total - self.refunded
        return left

    @property
    def charge_id(self) -> str:
        return f"ch_{self.reference}"

    @property
    def dispute_id(self) -> str:
        return f"dp_{self.reference}"


class SandboxMovement(models.Model):
    """
    One line of the sandbox's books: what a payment, refund or dispute moved there.
    """

    payment = models.ForeignKey(
        SandboxPayment, on_delete=models.PROTECT, related_name="movements"
    )
    kind = models.CharField(_("kind"), max_length=20)
    source = models.CharField(_("source"), max_length=100)
    amount = ledger_money(verbose_name=_("amount"))
    fee = ledger_money(verbose_name=_("fee"))
    happened_at = models.DateTimeField(_("happened"))

    objects: ClassVar["models.Manager[SandboxMovement]"] = models.Manager()

    class Meta:
        verbose_name = _("sandbox movement")
        verbose_name_plural = _("sandbox movements")
        constraints: ClassVar = [
            models.UniqueConstraint(
                "source", "kind", name="sandbox_movement_happens_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.source}"


class SandboxDeliveryQuerySet(models.QuerySet["SandboxDelivery"]):
    def due(self, at: datetime) -> Self:
        """
        Keep the events to be sent at `at`.
        """
        return self.filter(delivered_at__isnull=True, next_try_at__lte=at)


SandboxDeliveryManager = models.Manager.from_queryset(SandboxDeliveryQuerySet)


class SandboxDelivery(models.Model):
    """
    An event that the sandbox sends to our webhook until it is answered with success.
    """

    event_id = models.CharField(_("event"), max_length=64, unique=True)
    payment = models.ForeignKey(
        SandboxPayment, on_delete=models.PROTECT, related_name="deliveries"
    )
    body = models.TextField(_("body"))
    tries = models.PositiveIntegerField(_("tries"), default=0)
    next_try_at = models.DateTimeField(_("next try"))
    delivered_at = models.DateTimeField(_("delivered"), null=True, blank=True)
    answer = models.CharField(_("last answer"), max_length=200, blank=True)

    objects = SandboxDeliveryManager()

    class Meta:
        verbose_name = _("sandbox delivery")
        verbose_name_plural = _("sandbox deliveries")
        indexes: ClassVar = [
            models.Index(
                "next_try_at",
                condition=Q(delivered_at__isnull=True),
                name="sandbox_delivery_waiting",
            ),
        ]

    def __str__(self) -> str:
        return self.event_id
