"""
What payment providers say moved at theirs, and up to when they were asked.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.utils.translation import gettext_lazy as _

from billing.models.ledger import ledger_money


class ProviderMovement(models.Model):
    """
    One line of a provider's own books, as it came; `amount` is before `fee`.
    """

    class Category(models.TextChoices):
        PAYMENT = "PAYMENT", _("Payment")
        REFUND = "REFUND", _("Refund")
        DISPUTE = "DISPUTE", _("Dispute")
        FEE = "FEE", _("Fee")
        PAYOUT = "PAYOUT", _("Payout")
        OTHER = "OTHER", _("Something else")

    class Cause(models.TextChoices):
        BANK = "BANK", _("Money from or to our own bank account")
        HOUSE = "HOUSE", _("Income or loss of the house")

    provider = models.CharField(_("provider"), max_length=16)
    ref = models.CharField(_("provider's reference"), max_length=100)
    kind = models.CharField(_("provider's word for it"), max_length=60)
    category = models.CharField(_("kind"), max_length=8, choices=Category.choices)
    source = models.CharField(_("source"), max_length=255, blank=True)
    payment_id = models.CharField(_("payment"), max_length=255, blank=True)
    amount = ledger_money(verbose_name=_("amount"))
    fee = ledger_money(verbose_name=_("fee"))
    happened_at = models.DateTimeField(_("happened"))
    booked_at = models.DateTimeField(_("booked"), null=True, blank=True)
    # What staff say of something else, once.
    cause = models.CharField(
        _("what it was"), max_length=5, choices=Cause.choices, blank=True
    )
    explanation = models.CharField(_("reason"), max_length=200, blank=True)
    explained_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("by"),
    )
    explained_at = models.DateTimeField(_("explained"), null=True, blank=True)

    objects: ClassVar["models.Manager[ProviderMovement]"] = models.Manager()

    class Meta:
        verbose_name = _("provider's movement")
        verbose_name_plural = _("providers' movements")
        constraints: ClassVar = [
            models.UniqueConstraint(
                "provider", "ref", name="provider_movement_unique_ref"
            ),
            models.CheckConstraint(
                condition=models.Q(
                    cause="",
                    explanation="",
                    explained_by__isnull=True,
                    explained_at__isnull=True,
                )
                | (
                    models.Q(
                        category="OTHER",
                        explained_by__isnull=False,
                        explained_at__isnull=False,
                    )
                    & ~models.Q(cause="")
                    & ~models.Q(explanation="")
                ),
                name="provider_movement_explained_whole",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                "explained_at",
                condition=models.Q(category="OTHER"),
                name="provider_movement_other",
            ),
            models.Index(
                "id",
                condition=models.Q(booked_at__isnull=True),
                name="provider_movement_unbooked",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.ref}"


class Reconciliation(models.Model):
    """
    A provider's movements up to `until_at` were all fetched.
    """

    provider = models.CharField(_("provider"), max_length=16, unique=True)
    until_at = models.DateTimeField(_("compared up to"))

    objects: ClassVar["models.Manager[Reconciliation]"] = models.Manager()

    class Meta:
        verbose_name = _("reconciliation")
        verbose_name_plural = _("reconciliations")

    def __str__(self) -> str:
        return f"{self.provider} {self.until_at}"
