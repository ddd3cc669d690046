"""
What the tax on a sale is decided from: rates by country and day, and who the buyer is.
"""

import datetime
from typing import ClassVar

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from billing.tax import Customer, IdStatus

ANSWER_IS_GOOD_FOR = datetime.timedelta(days=30)


class VatRateQuerySet(models.QuerySet["VatRate"]):
    def on(self, day: datetime.date, *, country: str) -> "VatRate | None":
        """
        Return the country's rate on `day`, or None if none is known.
        """
        known = self.filter(country=country, valid_from__lte=day)
        return known.order_by("-valid_from").first()


VatRateManager = models.Manager.from_queryset(VatRateQuerySet)


class VatRate(models.Model):
    """
    The standard rate of a country, in percent, from a day on until the next row's.
    """

    country = models.CharField(_("country"), max_length=2)
    rate = models.DecimalField(
        _("rate"),
        max_digits=5,
        decimal_places=2,
        validators=[MinValueValidator(0), MaxValueValidator(100)],
        help_text=_("In percent."),
    )
    valid_from = models.DateField(_("valid from"))
    source = models.CharField(_("source"), max_length=250)
    as_of = models.DateField(_("as of"))

    objects = VatRateManager()

    class Meta:
        verbose_name = _("VAT rate")
        verbose_name_plural = _("VAT rates")
        constraints: ClassVar = [
            models.UniqueConstraint(
                "country", "valid_from", name="vat_rate_unique_day"
            ),
            models.CheckConstraint(
                condition=Q(rate__gte=0, rate__lte=100), name="vat_rate_is_percent"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.country} {self.rate} %"


class BillingProfile(models.Model):
    """
    Who the invoices are made out to.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        on_delete=models.PROTECT,
        related_name="billing_profile",
    )
    country = models.CharField(_("country"), max_length=2)
    is_business = models.BooleanField(_("business"), default=False)
    name = models.CharField(_("name or company"), max_length=150, blank=True)
    address = models.CharField(_("address"), max_length=300, blank=True)
    vat_id = models.CharField(_("VAT number"), max_length=20, blank=True)
    vat_id_status = models.CharField(
        _("VAT number is"),
        max_length=12,
        choices=IdStatus.choices,
        default=IdStatus.NONE,
    )
    # When the register last gave an answer, and when it was last asked.
    vat_id_checked_at = models.DateTimeField(null=True, blank=True)
    vat_id_asked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        verbose_name = _("billing details")
        verbose_name_plural = _("billing details")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(vat_id="", vat_id_status=IdStatus.NONE)
                | ~Q(vat_id="") & ~Q(vat_id_status=IdStatus.NONE),
                name="billing_profile_status_of_vat_id",
            ),
            models.CheckConstraint(
                condition=Q(is_business=True) | Q(vat_id=""),
                name="billing_profile_vat_id_of_business",
            ),
        ]

    def __str__(self) -> str:
        return self.name or self.country

    def customer(self, at: datetime.datetime) -> Customer:
        """
        Return what decides the tax at `at`; an old answer about the number is none.
        """
        status = IdStatus(self.vat_id_status)
        checked_at = self.vat_id_checked_at
        if status == IdStatus.VALID and (
            checked_at is None or at - checked_at > ANSWER_IS_GOOD_FOR
        ):
            status = IdStatus.UNCHECKED
        return Customer(
            country=self.country, is_business=self.is_business, id_status=status
        )
