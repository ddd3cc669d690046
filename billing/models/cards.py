"""
Saved cards and the automatic top-ups that they pay.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from billing.models.ledger import Wallet, ledger_money


class Card(models.Model):
    """
    A card that a provider keeps for a customer; its number never comes here.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="cards"
    )
    provider = models.CharField(_("provider"), max_length=16)
    customer_ref = models.CharField(_("provider's customer"), max_length=255)
    card_ref = models.CharField(_("provider's card"), max_length=255)
    label = models.CharField(_("card"), max_length=60, blank=True)
    saved_at = models.DateTimeField(_("saved"))

    objects: ClassVar["models.Manager[Card]"] = models.Manager()

    class Meta:
        verbose_name = _("saved card")
        verbose_name_plural = _("saved cards")
        constraints: ClassVar = [
            models.UniqueConstraint("user", "provider", name="card_unique_per_user"),
        ]

    def __str__(self) -> str:
        return self.label or self.card_ref


class AutoTopUp(models.Model):
    """
    The customer's standing order to top a wallet up when little is available in it.

    It is off until the customer switches it on, never takes more than its cap in a
    calendar month (UTC), and stops at the first declined card.
    """

    wallet = models.OneToOneField(
        Wallet, on_delete=models.PROTECT, related_name="auto_top_up"
    )
    is_on = models.BooleanField(_("on"), default=False)
    threshold = ledger_money(verbose_name=_("when less is available than"))
    amount = ledger_money(verbose_name=_("amount"))
    monthly_cap = ledger_money(verbose_name=_("at most in a month"))
    email = models.EmailField(_("e-mail address"))
    language = models.CharField(_("language"), max_length=8)
    consented_at = models.DateTimeField(_("switched on"))
    stopped_at = models.DateTimeField(_("stopped"), null=True, blank=True)
    stop_reason = models.CharField(_("why it stopped"), max_length=250, blank=True)
    capped_at = models.DateTimeField(_("cap reached"), null=True, blank=True)

    objects: ClassVar["models.Manager[AutoTopUp]"] = models.Manager()

    class Meta:
        verbose_name = _("automatic top-up")
        verbose_name_plural = _("automatic top-ups")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(threshold__gt=0, amount__gt=0)
                & Q(monthly_cap__gte=F("amount")),
                name="auto_top_up_cap_covers_one",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.amount} below {self.threshold}"
