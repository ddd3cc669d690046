"""
Money that leaves for the suppliers' banks.
"""

from typing import Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext_lazy as _

from billing.models.ledger import Account, ledger_money


class BankAccountQuerySet(models.QuerySet["BankAccount"]):
    def trusted(self) -> Self:
        """
        Keep those that the party wrote itself, or two members of staff vouch for.
        """
        return self.filter(Q(entered_by=None) | Q(approved_by__isnull=False))


BankAccountManager = models.Manager.from_queryset(BankAccountQuerySet)


class BankAccount(models.Model):
    """
    Where a party's payouts of one currency go.

    What staff enter waits until somebody else of staff approves it.
    """

    party = models.CharField(
        _("party"), max_length=100, help_text=_("For example supplier:everxcloud.")
    )
    currency = models.CharField(
        _("currency"),
        max_length=3,
        choices=[(code, code) for code in settings.CURRENCIES],
    )
    holder = models.CharField(_("account holder"), max_length=70)
    number = models.CharField(_("IBAN or account number"), max_length=34)
    bank_code = models.CharField(_("BIC or sort code"), max_length=11, blank=True)

    entered_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("entered by"),
        help_text=_("Empty: by the party itself."),
    )
    approved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("approved by"),
    )

    objects = BankAccountManager()

    class Meta:
        verbose_name = _("bank account")
        verbose_name_plural = _("bank accounts")
        constraints = [
            models.UniqueConstraint(
                fields=["party", "currency"], name="bankaccount_unique_party_currency"
            ),
            models.CheckConstraint(
                condition=Q(approved_by__isnull=True)
                | Q(entered_by__isnull=True)
                | ~Q(approved_by=F("entered_by")),
                name="bankaccount_four_eyes",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.party} {self.currency}"

    @property
    def is_trusted(self) -> bool:
        return self.entered_by_id is None or self.approved_by_id is not None

    @property
    def masked_number(self) -> str:
        """
        Return as much of the number as tells accounts apart.
        """
        return f"…{self.number[-4:]}"


class PayoutQuerySet(models.QuerySet["Payout"]):
    def standing(self) -> Self:
        """
        Leave out what the bank sent back.
        """
        return self.exclude(status=Payout.Status.RETURNED)


PayoutManager = models.Manager.from_queryset(PayoutQuerySet)


class Payout(models.Model):
    """
    What one payable account was paid in one week; the bank may still send it back.

    Holder, number and code are those of the day: a file for the bank never changes.
    """

    class Status(models.TextChoices):
        PENDING = "PENDING", _("In the bank's hands")
        PAID = "PAID", _("Paid")
        RETURNED = "RETURNED", _("Returned")

    account = models.ForeignKey(
        Account,
        models.PROTECT,
        related_name="payouts",
        db_constraint=False,
        verbose_name=_("account"),
    )
    currency: str
    amount = ledger_money(verbose_name=_("amount"))
    week_date = models.DateField(_("week of"), help_text=_("Its Monday."))
    status = models.CharField(
        _("status"), max_length=8, choices=Status, default=Status.PENDING
    )
    holder = models.CharField(_("account holder"), max_length=70)
    number = models.CharField(_("IBAN or account number"), max_length=34)
    bank_code = models.CharField(_("BIC or sort code"), max_length=11, blank=True)
    created_at = models.DateTimeField(_("created"))
    paid_at = models.DateTimeField(_("paid"), null=True, blank=True)
    returned_at = models.DateTimeField(_("returned"), null=True, blank=True)
    reason = models.CharField(_("why it was returned"), max_length=200, blank=True)

    objects = PayoutManager()

    class Meta:
        verbose_name = _("payout")
        verbose_name_plural = _("payouts")
        constraints = [
            models.UniqueConstraint(
                fields=["account", "week_date"],
                condition=~Q(status="RETURNED"),
                name="payout_one_a_week",
            ),
            models.CheckConstraint(
                condition=Q(amount__gt=0), name="payout_amount_positive"
            ),
            models.CheckConstraint(
                condition=Q(status="RETURNED", returned_at__isnull=False)
                | ~Q(status="RETURNED") & Q(returned_at=None),
                name="payout_returned_has_time",
            ),
            models.CheckConstraint(
                condition=~Q(status="PAID") | Q(paid_at__isnull=False),
                name="payout_paid_has_time",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.holder} {self.week_date}"
