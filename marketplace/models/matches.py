from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from djmoney.models.fields import MoneyField
from djmoney.money import Money


class Match(models.Model):
    """
    A request and the offer it got, numbered in the order in which it was decided.

    Who is interrupted, or goes on after a stop, is matched again.
    """

    sequence = models.BigAutoField(_("number"), primary_key=True)
    workspace = models.ForeignKey(
        "workspaces.Workspace",
        models.PROTECT,
        related_name="matches",
        verbose_name=_("workspace"),
    )
    offer = models.ForeignKey(
        "catalog.Offer",
        models.PROTECT,
        related_name="matches",
        verbose_name=_("offer"),
    )
    hourly_price: "models.Field[Money, Money]" = MoneyField(
        _("price per GPU-hour"),
        max_digits=14,
        decimal_places=6,
        default_currency="USD",
        currency_choices=settings.CURRENCY_CHOICES,
        help_text=_("The ask, in the offer's currency."),
    )
    matched_at = models.DateTimeField(_("matched at"))

    objects: ClassVar["models.Manager[Match]"] = models.Manager()

    class Meta:
        verbose_name = _("match")
        verbose_name_plural = _("matches")
        constraints = [
            models.CheckConstraint(
                condition=Q(hourly_price__gt=0), name="match_price_positive"
            ),
        ]
        indexes = [models.Index(fields=["offer", "-sequence"], name="match_offer")]

    def __str__(self) -> str:
        return str(self.pk)
