import uuid
from datetime import datetime, timedelta
from decimal import Decimal
from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from money import round_half_up
from workspaces.models.specification import (
    Specification,
    amount_field,
    maybe_rate_field,
    rate_field,
)

VALID_FOR = timedelta(minutes=15)


class Verdict(models.TextChoices):
    FITS = "fits", _("Fits")
    TIGHT = "tight", _("Tight")
    NO = "no", _("Does not fit")


class Quote(Specification):
    """
    A price for a request, frozen for 15 minutes, that can be funded once.

    The workspace that is funded with it takes over its id: whoever funds twice, in
    two tabs or after a lost answer, can only ever mean the same workspace. A quote that
    `resumes` a stopped workspace lets that one go on instead.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    wanted_limit = maybe_rate_field(
        _("price limit as typed"),
        help_text=_("Empty: the best ask was taken as the limit."),
    )
    resumes = models.ForeignKey(
        "workspaces.Workspace",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="resume_quotes",
        verbose_name=_("goes on with"),
    )
    replaces = models.ForeignKey(
        "self",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("quoted again after"),
    )
    offer = models.ForeignKey(
        "catalog.Offer",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("best offer"),
    )
    ask_amount = maybe_rate_field(_("best ask per GPU-hour"))
    storage_rate = rate_field(_("price per GB-month"))
    exchange_rates = models.JSONField(
        _("exchange rates"),
        default=dict,
        blank=True,
        help_text=_("What one unit of another currency is in this one, as text."),
    )
    exchange_as_of = models.DateTimeField(_("exchange rate of"), null=True, blank=True)
    compute_cost = amount_field(_("GPU, at most"))
    storage_cost = amount_field(_("storage while running, at most"))
    kept_cost = amount_field(_("storage kept after the end"))
    hold_amount = amount_field(_("hold"))
    verdict = models.CharField(_("fit"), max_length=5, choices=Verdict.choices)
    needed_gb = models.DecimalField(
        _("memory needed"), max_digits=9, decimal_places=1, help_text=_("GB per GPU.")
    )
    created_at = models.DateTimeField(_("made at"))
    expires_at = models.DateTimeField(_("valid until"))
    used_at = models.DateTimeField(_("funded at"), null=True, blank=True)

    objects: ClassVar["models.Manager[Quote]"] = models.Manager()

    class Meta(Specification.Meta):
        verbose_name = _("quote")
        verbose_name_plural = _("quotes")
        constraints = [
            *Specification.Meta.constraints,
            models.CheckConstraint(
                condition=Q(
                    hold_amount=F("compute_cost") + F("storage_cost") + F("kept_cost"),
                    hold_amount__gt=0,
                ),
                name="quote_hold_is_the_sum_of_its_lines",
            ),
            models.CheckConstraint(
                condition=Q(expires_at__gt=F("created_at")),
                name="quote_period_forward",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.pk}"

    def get_absolute_url(self) -> str:
        return reverse("workspaces:quote", args=[self.pk])

    @property
    def workspace_id(self) -> uuid.UUID:
        """
        Return the id of the workspace that is, or would be, funded with it.
        """
        return self.resumes_id or self.pk

    @property
    def ask(self) -> Money | None:
        return (
            None if self.ask_amount is None else Money(self.ask_amount, self.currency)
        )

    def is_expired(self, at: datetime) -> bool:
        return at >= self.expires_at

    def rates(self) -> dict[str, Decimal]:
        """
        Return what one unit of each currency is in the wallet's, as frozen here.
        """
        frozen = {code: Decimal(rate) for code, rate in self.exchange_rates.items()}
        return {**frozen, self.currency: Decimal(1)}

    def in_wallet_currency(self, price: Money) -> Money | None:
        """
        Return a rate in the wallet's currency, to six decimals.

        None if no exchange rate was frozen for its currency.
        """
        factor = self.rates().get(str(price.currency))
        if factor is None:
            return None
        return Money(round_half_up(price.amount * factor, 6), self.currency)
