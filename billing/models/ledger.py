"""
The ledger: who owns which money, and how it got there.

One ``Transfer`` moves one amount from a debit account to a credit account of the same
currency, so the books balance by construction. Transfers are never changed or
deleted; a mistake is put right by another transfer. ``Account.balance`` is credits
minus debits. It is kept by the database itself: a trigger on the transfers adds and
subtracts them, another refuses every other change of a balance, so a balance cannot
disagree with its transfers. A customer's accounts never fall below zero, which is a
CHECK; only ``available`` of a wallet frozen by a card dispute may.

``billing.ledger`` is the only writer. It locks account rows by ascending id, after
meters and holds, and records the caller's key, so that no verb happens twice.
"""

from typing import Any, ClassVar

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Now
from django.utils.translation import gettext_lazy as _
from djmoney.models.fields import MoneyField
from djmoney.money import Money

LEDGER_DIGITS = {"max_digits": 18, "decimal_places": 2}


def ledger_money(**options: Any) -> "models.Field[Money, Money]":
    """
    Return a field for whole cents; all of one model share its ``currency`` column.
    """
    field: models.Field[Money, Money] = MoneyField(
        **LEDGER_DIGITS,
        currency_field_name="currency",
        default_currency=None,
        currency_choices=settings.CURRENCY_CHOICES,
        **options,
    )
    return field


class Account(models.Model):
    """
    A pot of money in one currency: a customer's, a supplier's or the house's.
    """

    class Kind(models.TextChoices):
        AVAILABLE = "AVAILABLE", _("Available")
        HELD = "HELD", _("Held")
        PAYABLE = "PAYABLE", _("Owed to suppliers")
        CLEARING = "CLEARING", _("Clearing")
        FEES = "FEES", _("Fees")
        TAX = "TAX", _("Tax")
        PROMOTIONS = "PROMOTIONS", _("Gifts")
        WRITE_OFFS = "WRITE_OFFS", _("Written off")

    kind = models.CharField(max_length=16, choices=Kind)
    # "user:<id>", "supplier:<slug>", "bank", a payment provider, or "" for the house.
    party = models.CharField(max_length=100, blank=True)
    # Every field of ledger_money() adds or shares it.
    currency: str
    balance = ledger_money()
    may_go_negative = models.BooleanField(default=False)

    objects: ClassVar["models.Manager[Account]"] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "party", "currency"],
                name="account_unique_kind_party_currency",
            ),
            # What the currency of a transfer or wallet is checked against.
            models.UniqueConstraint(
                fields=["id", "currency"], name="account_unique_currency"
            ),
            models.CheckConstraint(
                condition=~Q(kind__in=["AVAILABLE", "HELD"])
                | Q(balance__gte=0)
                | Q(may_go_negative=True),
                name="account_customer_balance_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(kind="AVAILABLE") | Q(may_go_negative=False),
                name="account_only_available_may_go_negative",
            ),
            models.CheckConstraint(
                condition=~Q(kind__in=["AVAILABLE", "HELD", "PAYABLE"]) | ~Q(party=""),
                name="account_of_a_party_names_it",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.party} {self.currency}"


class Transfer(models.Model):
    """
    One amount moved from one account to another, for ever.
    """

    class Kind(models.TextChoices):
        TOP_UP = "TOP_UP"
        TAX = "TAX"
        HOLD = "HOLD"
        RELEASE = "RELEASE"
        USAGE = "USAGE"
        USAGE_FEE = "USAGE_FEE"
        CAPTURE = "CAPTURE"
        CAPTURE_FEE = "CAPTURE_FEE"
        REFUND = "REFUND"
        TAX_REFUND = "TAX_REFUND"
        DISPUTE = "DISPUTE"
        DISPUTE_FEE = "DISPUTE_FEE"
        PROMOTION = "PROMOTION"
        PAYOUT = "PAYOUT"
        PAYOUT_RETURN = "PAYOUT_RETURN"
        PROVIDER_FEE = "PROVIDER_FEE"
        PROVIDER_PAYOUT = "PROVIDER_PAYOUT"
        WRITE_OFF = "WRITE_OFF"
        CORRECTION = "CORRECTION"

    # The database's own foreign keys span (account, currency): see the migration.
    debit = models.ForeignKey(
        Account,
        models.PROTECT,
        related_name="debits",
        db_constraint=False,
        db_index=False,
    )
    credit = models.ForeignKey(
        Account,
        models.PROTECT,
        related_name="credits",
        db_constraint=False,
        db_index=False,
    )
    currency: str
    amount = ledger_money()
    kind = models.CharField(max_length=16, choices=Kind)
    # Transfers of one verb share a group, and the part of their key before the "/".
    group = models.UUIDField()
    key = models.CharField(max_length=200, db_collation="C")
    reference = models.CharField(max_length=100, blank=True)
    happened_at = models.DateTimeField()
    recorded_at = models.DateTimeField(db_default=Now())

    objects: ClassVar["models.Manager[Transfer]"] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["key"], name="transfer_unique_key"),
            models.CheckConstraint(
                condition=Q(amount__gt=0), name="transfer_amount_positive"
            ),
            models.CheckConstraint(
                condition=~Q(debit=F("credit")), name="transfer_between_two_accounts"
            ),
        ]
        indexes = [
            models.Index(fields=["debit", "id"], name="transfer_by_debit"),
            models.Index(fields=["credit", "id"], name="transfer_by_credit"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.key}"


class Wallet(models.Model):
    """
    A customer's money in one currency: what is free and what is set aside.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.PROTECT, related_name="wallets"
    )
    currency = models.CharField(max_length=3, choices=settings.CURRENCY_CHOICES)
    available = models.OneToOneField(
        Account, models.PROTECT, related_name="+", db_constraint=False
    )
    held = models.OneToOneField(
        Account, models.PROTECT, related_name="+", db_constraint=False
    )
    frozen_at = models.DateTimeField(null=True, blank=True)
    opened_at = models.DateTimeField(db_default=Now())

    objects: ClassVar["models.Manager[Wallet]"] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["user", "currency"], name="wallet_unique_user_currency"
            ),
            models.UniqueConstraint(
                fields=["id", "currency"], name="wallet_unique_currency"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.currency} of user {self.user_id}"


class WalletEvent(models.Model):
    """
    A wallet was frozen or let go again: why, and by whom if a person did it.
    """

    class Kind(models.TextChoices):
        FROZEN = "FROZEN", _("Frozen")
        LET_GO = "LET_GO", _("Unfrozen")

    wallet = models.ForeignKey(Wallet, models.PROTECT, related_name="events")
    kind = models.CharField(_("kind"), max_length=6, choices=Kind.choices)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("by"),
    )
    reason = models.CharField(_("reason"), max_length=200)
    at = models.DateTimeField(_("time"))

    objects: ClassVar["models.Manager[WalletEvent]"] = models.Manager()

    class Meta:
        verbose_name = _("wallet event")
        verbose_name_plural = _("wallet events")
        constraints = [
            models.CheckConstraint(
                condition=~Q(reason=""), name="wallet_event_has_reason"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.reason}"


class UsedKey(models.Model):
    """
    What was asked for under a caller's key, so that asking again does nothing new.
    """

    verb = models.CharField(max_length=32)
    key = models.CharField(max_length=150)
    content = models.JSONField()
    result = models.JSONField(null=True)
    used_at = models.DateTimeField(db_default=Now())

    objects: ClassVar["models.Manager[UsedKey]"] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["verb", "key"], name="usedkey_unique_verb_key"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.verb} {self.key}"
