"""
Payments: money that comes from a customer's card and money that goes back to it.

A top-up is quoted (DRAFT), confirmed (STARTED), paid on the provider's page (PENDING),
and credited when the provider's signed event says that the money is there (PAID). The
net goes to the wallet, the VAT to the tax account. PAID is final and wins over every
other end, whatever order the events come in; what is given back is on `Refund` and
`Dispute`.
"""

import uuid
from decimal import Decimal
from typing import ClassVar, Self

from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from billing.models.ledger import ledger_money
from billing.tax import Decision, Treatment

OPEN_STATUSES = ["STARTED", "UNKNOWN", "PENDING", "PROCESSING"]


class TopUpQuerySet(models.QuerySet["TopUp"]):
    def of_user(self, user_id: int) -> Self:
        return self.filter(wallet__user_id=user_id)

    def confirmed(self) -> Self:
        """
        Leave out quotes that nobody confirmed.
        """
        return self.exclude(status=TopUp.Status.DRAFT)

    def counted(self) -> Self:
        """
        Keep what counts towards a limit: paid, or may still be.
        """
        return self.filter(status__in=[*TopUp.OPEN, TopUp.Status.PAID])

    def newest_first(self) -> Self:
        return self.order_by("-created_at", "-pk")


TopUpManager = models.Manager.from_queryset(TopUpQuerySet)


class TopUp(models.Model):
    """
    One payment into a wallet: the customer pays net and VAT, the wallet gets the net.
    """

    class Status(models.TextChoices):
        DRAFT = "DRAFT", _("Not confirmed")
        STARTED = "STARTED", _("Starting")
        UNKNOWN = "UNKNOWN", _("Being looked up")
        PENDING = "PENDING", _("Waiting for payment")
        PROCESSING = "PROCESSING", _("On its way")
        PAID = "PAID", _("Paid")
        FAILED = "FAILED", _("Failed")
        EXPIRED = "EXPIRED", _("Not paid")

    class Kind(models.TextChoices):
        CHECKOUT = "CHECKOUT", _("Top-up")
        AUTO = "AUTO", _("Automatic top-up")

    OPEN: ClassVar = [
        Status.STARTED,
        Status.UNKNOWN,
        Status.PENDING,
        Status.PROCESSING,
    ]

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    wallet = models.ForeignKey(
        "billing.Wallet", on_delete=models.PROTECT, related_name="top_ups"
    )
    kind = models.CharField(
        _("kind"), max_length=8, choices=Kind.choices, default=Kind.CHECKOUT
    )
    net = ledger_money(verbose_name=_("net"))
    vat = ledger_money(verbose_name=_("VAT"))
    total = ledger_money(verbose_name=_("total"))
    vat_rate = models.DecimalField(_("VAT rate"), max_digits=5, decimal_places=2)
    vat_treatment = models.CharField(
        _("VAT treatment"), max_length=14, choices=Treatment.choices
    )
    is_vat_pending = models.BooleanField(_("VAT number unchecked"), default=False)
    country = models.CharField(_("country"), max_length=2)
    vat_id = models.CharField(_("VAT number"), max_length=20, blank=True)
    status = models.CharField(
        _("status"), max_length=10, choices=Status.choices, default=Status.DRAFT
    )
    # What the provider is told, kept so that asking again says the same.
    email = models.EmailField(_("e-mail address"))
    language = models.CharField(_("language"), max_length=8)
    saves_card = models.BooleanField(_("saves the card"), default=False)
    customer_ref = models.CharField(
        _("provider's customer"), max_length=255, blank=True
    )
    card_ref = models.CharField(_("provider's card"), max_length=255, blank=True)
    provider = models.CharField(_("provider"), max_length=16, blank=True)
    provider_ref = models.CharField(
        _("provider's reference"), max_length=255, blank=True
    )
    payment_id = models.CharField(_("payment"), max_length=255, blank=True)
    charge_id = models.CharField(_("charge"), max_length=255, blank=True)
    checkout_url = models.CharField(_("payment page"), max_length=2000, blank=True)
    failure = models.CharField(_("why it failed"), max_length=250, blank=True)
    is_gift = models.BooleanField(
        _("paid by a coupon"),
        default=False,
        help_text=_("Nothing was paid by card, so nothing can go back to it."),
    )
    refunded_net = ledger_money(verbose_name=_("refunded net"))
    refunded_vat = ledger_money(verbose_name=_("refunded VAT"))
    created_at = models.DateTimeField(_("created"))
    confirmed_at = models.DateTimeField(_("confirmed"), null=True, blank=True)
    paid_at = models.DateTimeField(_("paid"), null=True, blank=True)
    asked_at = models.DateTimeField(_("provider last asked"), null=True, blank=True)

    objects = TopUpManager()

    class Meta:
        verbose_name = _("top-up")
        verbose_name_plural = _("top-ups")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(net__gt=0, vat__gte=0, total=F("net") + F("vat")),
                name="top_up_total_is_net_and_vat",
            ),
            models.CheckConstraint(
                condition=Q(
                    refunded_net__gte=0,
                    refunded_vat__gte=0,
                    refunded_net__lte=F("net"),
                    refunded_vat__lte=F("vat"),
                ),
                name="top_up_refunds_within_payment",
            ),
            models.CheckConstraint(
                condition=Q(status="PAID", paid_at__isnull=False)
                | ~Q(status="PAID") & Q(paid_at__isnull=True),
                name="top_up_paid_has_time",
            ),
            models.UniqueConstraint(
                "provider",
                "payment_id",
                condition=~Q(payment_id=""),
                name="top_up_unique_payment",
            ),
            models.UniqueConstraint(
                "wallet",
                condition=Q(kind="AUTO", status__in=OPEN_STATUSES),
                name="top_up_one_open_automatic",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                "confirmed_at",
                condition=Q(status__in=OPEN_STATUSES),
                name="top_up_open",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.net} {self.get_status_display()}"

    def get_absolute_url(self) -> str:
        return reverse("billing:top_up_status", args=[self.uuid])

    @property
    def is_open(self) -> bool:
        return self.status in self.OPEN

    @property
    def vat_share(self) -> Decimal:
        """
        The VAT rate as a share: 0.2 for 20 %.
        """
        return self.vat_rate / 100

    @property
    def vat_reason(self) -> Promise:
        decision = Decision(
            rate=self.vat_rate,
            treatment=Treatment(self.vat_treatment),
            is_pending=self.is_vat_pending,
        )
        return decision.reason

    @property
    def state_label(self) -> str:
        """
        Say where the money is, refunds included.
        """
        if self.status != self.Status.PAID or not self.refunded_net:
            return str(self.get_status_display())
        if self.refunded_net < self.net:
            return gettext("Partly refunded")
        return gettext("Refunded")

    @property
    def refundable_net(self) -> Money:
        """
        What can still go back to the card, before VAT.
        """
        if self.status != self.Status.PAID or self.is_gift:
            return Money(0, self.net.currency)
        rest: Money = self.net - self.refunded_net
        return rest


class Refund(models.Model):
    """
    A part of a top-up on its way back to the card, with the VAT on that part.

    The money leaves the wallet when the refund is asked for and comes back if the
    provider reports that the refund failed.
    """

    class Status(models.TextChoices):
        STARTED = "STARTED", _("Starting")
        PENDING = "PENDING", _("On its way")
        DONE = "DONE", _("Refunded")
        FAILED = "FAILED", _("Failed")

    uuid = models.UUIDField(default=uuid.uuid4, unique=True, editable=False)
    top_up = models.ForeignKey(TopUp, on_delete=models.PROTECT, related_name="refunds")
    key = models.CharField(_("key"), max_length=100, unique=True)
    net = ledger_money(verbose_name=_("net"))
    vat = ledger_money(verbose_name=_("VAT"))
    total = ledger_money(verbose_name=_("total"))
    status = models.CharField(
        _("status"), max_length=8, choices=Status.choices, default=Status.STARTED
    )
    provider_ref = models.CharField(
        _("provider's reference"), max_length=255, blank=True
    )
    failure = models.CharField(_("why it failed"), max_length=250, blank=True)
    created_at = models.DateTimeField(_("created"))
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)

    objects: ClassVar["models.Manager[Refund]"] = models.Manager()

    class Meta:
        verbose_name = _("refund")
        verbose_name_plural = _("refunds")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(net__gte=0, vat__gte=0, total__gt=0)
                & Q(total=F("net") + F("vat")),
                name="refund_total_is_net_and_vat",
            ),
            models.UniqueConstraint(
                "provider_ref",
                condition=~Q(provider_ref=""),
                name="refund_unique_provider_ref",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.total} {self.get_status_display()}"


class Dispute(models.Model):
    """
    A payment that the customer's bank took back and has not, or has, given back.
    """

    class Status(models.TextChoices):
        OPEN = "OPEN", _("Open")
        WON = "WON", _("Won")
        LOST = "LOST", _("Lost")

    top_up = models.ForeignKey(TopUp, on_delete=models.PROTECT, related_name="disputes")
    provider_ref = models.CharField(
        _("provider's reference"), max_length=255, unique=True
    )
    net = ledger_money(verbose_name=_("net"))
    vat = ledger_money(verbose_name=_("VAT"))
    total = ledger_money(verbose_name=_("total"))
    reason = models.CharField(_("reason"), max_length=60, blank=True)
    status = models.CharField(
        _("status"), max_length=4, choices=Status.choices, default=Status.OPEN
    )
    opened_at = models.DateTimeField(_("opened"))
    closed_at = models.DateTimeField(_("closed"), null=True, blank=True)

    objects: ClassVar["models.Manager[Dispute]"] = models.Manager()

    class Meta:
        verbose_name = _("dispute")
        verbose_name_plural = _("disputes")
        constraints: ClassVar = [
            models.CheckConstraint(
                condition=Q(net__gte=0, vat__gte=0, total__gt=0)
                & Q(total=F("net") + F("vat")),
                name="dispute_total_is_net_and_vat",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.total} {self.get_status_display()}"
