"""
Invoices and credit notes: written once, never changed, numbered without a gap.
"""

from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _

from billing.models.ledger import ledger_money
from billing.models.payments import Dispute, Refund, TopUp
from billing.tax import Treatment


class InvoiceSeries(models.Model):
    """
    The last number given out in a series: one of a kind of document in a year.

    Its row is locked while a document is written, so a document that fails gives its
    number back and two at once wait for each other.
    """

    prefix = models.CharField(_("prefix"), max_length=4)
    year = models.PositiveSmallIntegerField(_("year"))
    last_number = models.PositiveIntegerField(_("last number"), default=0)

    objects: ClassVar["models.Manager[InvoiceSeries]"] = models.Manager()

    class Meta:
        verbose_name = _("invoice series")
        verbose_name_plural = _("invoice series")
        constraints: ClassVar = [
            models.UniqueConstraint("prefix", "year", name="invoice_series_unique"),
        ]

    def __str__(self) -> str:
        return f"{self.prefix}-{self.year}"


class Invoice(models.Model):
    """
    A document with everything that Article 226 of Directive 2006/112/EC asks for.

    Seller and buyer are copied into it: a document does not change when they move.
    """

    class Kind(models.TextChoices):
        INVOICE = "INV", _("Invoice")
        CREDIT_NOTE = "CN", _("Credit note")

    kind = models.CharField(_("kind"), max_length=4, choices=Kind.choices)
    year = models.PositiveSmallIntegerField(_("year"))
    number = models.PositiveIntegerField(_("number"))
    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="invoices"
    )
    top_up = models.ForeignKey(TopUp, on_delete=models.PROTECT, related_name="invoices")
    refund = models.OneToOneField(
        Refund,
        on_delete=models.PROTECT,
        related_name="credit_note",
        null=True,
        blank=True,
    )
    dispute = models.OneToOneField(
        Dispute,
        on_delete=models.PROTECT,
        related_name="credit_note",
        null=True,
        blank=True,
    )
    corrects = models.ForeignKey(
        "self",
        on_delete=models.PROTECT,
        related_name="credit_notes",
        null=True,
        blank=True,
    )
    issued_at = models.DateTimeField(_("issued"))
    supplied_on = models.DateField(_("date of supply"))
    seller_name = models.CharField(_("seller"), max_length=150)
    seller_address = models.CharField(_("seller's address"), max_length=300)
    seller_vat_id = models.CharField(_("seller's VAT number"), max_length=30)
    buyer_name = models.CharField(_("customer"), max_length=150)
    buyer_address = models.CharField(
        _("customer's address"), max_length=300, blank=True
    )
    buyer_country = models.CharField(_("customer's country"), max_length=2)
    buyer_vat_id = models.CharField(
        _("customer's VAT number"), max_length=20, blank=True
    )
    net = ledger_money(verbose_name=_("net"))
    vat = ledger_money(verbose_name=_("VAT"))
    total = ledger_money(verbose_name=_("total"))
    vat_rate = models.DecimalField(_("VAT rate"), max_digits=5, decimal_places=2)
    vat_treatment = models.CharField(
        _("VAT treatment"), max_length=14, choices=Treatment.choices
    )
    # Article 230: the VAT in the currency of the country that gets it, if another.
    tax_currency = models.CharField(_("tax currency"), max_length=3, blank=True)
    tax_amount = models.DecimalField(
        _("VAT in the tax currency"),
        max_digits=18,
        decimal_places=2,
        null=True,
        blank=True,
    )
    exchange_rate = models.DecimalField(
        _("exchange rate"), max_digits=18, decimal_places=6, null=True, blank=True
    )
    exchanged_on = models.DateField(_("day of the rate"), null=True, blank=True)
    language = models.CharField(_("language"), max_length=8)

    objects: ClassVar["models.Manager[Invoice]"] = models.Manager()

    class Meta:
        verbose_name = _("invoice")
        verbose_name_plural = _("invoices")
        constraints: ClassVar = [
            models.UniqueConstraint(
                "kind", "year", "number", name="invoice_unique_number"
            ),
            models.UniqueConstraint(
                "top_up", condition=Q(kind="INV"), name="invoice_one_per_top_up"
            ),
            models.CheckConstraint(
                condition=Q(net__gte=0, vat__gte=0, total__gt=0)
                & Q(total=F("net") + F("vat")),
                name="invoice_total_is_net_and_vat",
            ),
            models.CheckConstraint(
                condition=Q(
                    kind="INV",
                    corrects__isnull=True,
                    refund__isnull=True,
                    dispute__isnull=True,
                )
                | Q(kind="CN", corrects__isnull=False)
                & (
                    Q(refund__isnull=False, dispute__isnull=True)
                    | Q(refund__isnull=True, dispute__isnull=False)
                ),
                name="invoice_credit_note_corrects_one",
            ),
        ]

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        return reverse("billing:invoice", args=[self.code])

    @property
    def code(self) -> str:
        """
        The number as it is printed: INV-2026-000001.
        """
        return f"{self.kind}-{self.year}-{self.number:06d}"
