"""
Money set aside, the rates that run against it, and what each hour of them cost.
"""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q
from djmoney.models.fields import MoneyField
from djmoney.money import Money

from billing.models.ledger import Account, Wallet, ledger_money


class Hold(models.Model):
    """
    An amount of a wallet set aside for one purpose.

    It is captured, released or still remaining; once it has ended, nothing remains.
    """

    class Status(models.TextChoices):
        OPEN = "OPEN"
        CAPTURED = "CAPTURED"
        RELEASED = "RELEASED"
        EXPIRED = "EXPIRED"

    wallet = models.ForeignKey(
        Wallet, models.PROTECT, related_name="holds", db_constraint=False
    )
    reference = models.CharField(max_length=100)
    currency: str
    amount = ledger_money()
    captured = ledger_money()
    released = ledger_money()
    status = models.CharField(max_length=8, choices=Status, default=Status.OPEN)
    placed_at = models.DateTimeField()
    # A hold that no meter ever used falls due here; null never does.
    expires_at = models.DateTimeField(null=True, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)
    is_extended_automatically = models.BooleanField(default=False)

    objects: ClassVar["models.Manager[Hold]"] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["reference"], name="hold_unique_reference"),
            models.UniqueConstraint(
                fields=["id", "currency"], name="hold_unique_currency"
            ),
            models.CheckConstraint(
                condition=Q(amount__gt=0, captured__gte=0, released__gte=0),
                name="hold_parts_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(amount__gte=F("captured") + F("released")),
                name="hold_covers_its_parts",
            ),
            models.CheckConstraint(
                condition=Q(status="OPEN", ended_at=None)
                | Q(
                    ~Q(status="OPEN"),
                    ended_at__isnull=False,
                    amount=F("captured") + F("released"),
                ),
                name="hold_ended_leaves_nothing",
            ),
        ]
        indexes = [
            models.Index(
                fields=["expires_at"],
                condition=Q(status="OPEN", expires_at__isnull=False),
                name="hold_expiring",
            ),
        ]

    def __str__(self) -> str:
        return self.reference


class Meter(models.Model):
    """
    A rate that runs: `rate` times `units` for every `period_seconds`, out of one hold.

    Its times are whole seconds. It is billed up to `billed_until`; `stopped_at` is
    where its bill ends and is empty while it runs.
    """

    hold = models.ForeignKey(
        Hold, models.PROTECT, related_name="meters", db_constraint=False
    )
    name = models.CharField(max_length=50)
    currency: str
    rate: "models.Field[Money, Money]" = MoneyField(
        max_digits=18,
        decimal_places=6,
        currency_field_name="currency",
        default_currency=None,
    )
    units = models.DecimalField(max_digits=12, decimal_places=3)
    period_seconds = models.PositiveIntegerField()
    payee = models.ForeignKey(
        Account, models.PROTECT, related_name="+", db_constraint=False
    )
    fee_rate = models.DecimalField(max_digits=5, decimal_places=4)
    started_at = models.DateTimeField()
    ends_at = models.DateTimeField()
    stopped_at = models.DateTimeField(null=True, blank=True)
    billed_until = models.DateTimeField()
    billed_amount = ledger_money()

    objects: ClassVar["models.Manager[Meter]"] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["id", "currency"], name="meter_unique_currency"
            ),
            models.CheckConstraint(
                condition=Q(rate__gte=0, units__gt=0, period_seconds__gt=0),
                name="meter_rate_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(fee_rate__gte=0, fee_rate__lte=1),
                name="meter_fee_rate_a_share",
            ),
            models.CheckConstraint(
                condition=Q(billed_until__gte=F("started_at"))
                & Q(billed_until__lte=F("ends_at")),
                name="meter_billed_within_its_time",
            ),
            models.CheckConstraint(
                condition=Q(stopped_at=None) | Q(stopped_at=F("billed_until")),
                name="meter_stopped_is_billed",
            ),
            models.CheckConstraint(
                condition=Q(billed_amount__gte=0), name="meter_billed_not_negative"
            ),
        ]
        indexes = [
            # Never holds `billed_until`: a tick then rewrites no index of the meters.
            models.Index(
                fields=["id"], condition=Q(stopped_at=None), name="meter_running"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.name} of hold {self.hold_id}"


class Charge(models.Model):
    """
    What one meter cost in one UTC hour, from `from_at` up to, not including, `to_at`.
    """

    meter = models.ForeignKey(
        Meter,
        models.PROTECT,
        related_name="charges",
        db_index=False,
        db_constraint=False,
    )
    hour = models.DateTimeField()
    from_at = models.DateTimeField()
    to_at = models.DateTimeField()
    seconds = models.PositiveIntegerField()
    currency: str
    amount = ledger_money()
    supplier_amount = ledger_money()
    fee_amount = ledger_money()

    objects: ClassVar["models.Manager[Charge]"] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["meter", "hour"], name="charge_unique_meter_hour"
            ),
            models.CheckConstraint(
                condition=Q(supplier_amount__gte=0, fee_amount__gte=0)
                & Q(amount=F("supplier_amount") + F("fee_amount")),
                name="charge_parts_add_up",
            ),
        ]

    def __str__(self) -> str:
        return f"meter {self.meter_id} at {self.hour:%Y-%m-%d %H:%M}"


class MeterFault(models.Model):
    """
    Why a meter could not be billed as it should; staff see the open ones.
    """

    class Kind(models.TextChoices):
        HOLD_TOO_SMALL = "HOLD_TOO_SMALL"
        REFUSED = "REFUSED"
        STOPPED_BEFORE_BILLED = "STOPPED_BEFORE_BILLED"

    meter = models.ForeignKey(Meter, models.PROTECT, related_name="faults")
    kind = models.CharField(max_length=32, choices=Kind)
    detail = models.TextField()
    first_seen_at = models.DateTimeField()
    last_seen_at = models.DateTimeField()
    resolved_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar["models.Manager[MeterFault]"] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["meter", "kind"],
                condition=Q(resolved_at=None),
                name="meterfault_one_open_per_kind",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} of meter {self.meter_id}"


class EndWarning(models.Model):
    """
    A warning that a meter ends in so many hours, sent once for one `ends_at`.

    An extension changes `ends_at`, and thereby arms the warnings again.
    """

    meter = models.ForeignKey(Meter, models.CASCADE, related_name="warnings")
    hours_before = models.PositiveSmallIntegerField()
    ends_at = models.DateTimeField()
    warned_at = models.DateTimeField()
    sent_at = models.DateTimeField(null=True, blank=True)

    objects: ClassVar["models.Manager[EndWarning]"] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["meter", "hours_before", "ends_at"], name="endwarning_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.hours_before} h before the end of meter {self.meter_id}"
