"""
What a person asks for: the columns that a quote and a workspace share.
"""

from decimal import Decimal
from typing import Any

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from djmoney.models.fields import MoneyField
from djmoney.money import Money

from catalog.models import Method

MAX_GPUS = 16
MAX_HOURS = 90 * 24
MAX_STORAGE_GB = 20_000


class KeptAtEnd(models.TextChoices):
    LAST = "LAST", _("The last checkpoint")
    ALL = "ALL", _("Every checkpoint that is still kept")
    NOTHING = "NOTHING", _("Nothing: my job uploads what it needs")


class LossKernel(models.TextChoices):
    """
    How the logits become a loss; the values are those of the estimator.
    """

    PLAIN = "plain", _("Plain")
    FAST = "fast", _("Fast cross-entropy")
    FUSED = "fused", _("Fused")
    CHUNKED = "chunked", _("In chunks")


class Optimizer(models.TextChoices):
    """
    What updates the weights; the values are those of the estimator.
    """

    ADAMW = "adamw", "AdamW"
    ADAMW_FUSED = "adamw_fused", _("AdamW, fused")
    ADAMW_8BIT = "adamw_8bit", _("AdamW, 8 bit")
    ADAMW_PAGED_8BIT = "adamw_paged_8bit", _("AdamW, 8 bit, paged")
    ADAMW_FP32 = "adamw_fp32", _("AdamW, fp32")
    ADAMW_MASTER = "adamw_master", _("AdamW, fp32 copy of the weights")


def rate_field(name: Any) -> "models.Field[Money, Money]":
    """
    Return a price in the row's own currency, with the six decimals of a rate.
    """
    return _money_field(name, decimal_places=6)


def amount_field(name: Any) -> "models.Field[Money, Money]":
    """
    Return an amount in the row's own currency, in whole cents.
    """
    return _money_field(name, decimal_places=2)


def _money_field(name: Any, *, decimal_places: int) -> "models.Field[Money, Money]":
    # Never null: the one currency column of a row takes its nullness from its fields.
    field: models.Field[Money, Money] = MoneyField(
        name,
        max_digits=14,
        decimal_places=decimal_places,
        currency_field_name="currency",
        default_currency=None,
        currency_choices=settings.CURRENCY_CHOICES,
    )
    return field


def maybe_rate_field(name: Any, **options: Any) -> "models.DecimalField[Any, Any]":
    """
    Return the amount of a price that is not known from the beginning.
    """
    return models.DecimalField(
        name, max_digits=14, decimal_places=6, null=True, blank=True, **options
    )


def protected(to: str, name: Any) -> "models.ForeignKey[Any, Any]":
    return models.ForeignKey(to, models.PROTECT, related_name="+", verbose_name=name)


class Specification(models.Model):
    """
    Everything that decides what runs, where, for how long, and at most at what price.

    All money of one row is in its `currency`, that of the wallet that pays: the money
    fields share that column.
    """

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        related_name="%(class)ss",
        verbose_name=_("user"),
    )
    base_model = protected("catalog.BaseModel", _("base model"))
    revision = models.CharField(_("revision"), max_length=100)
    method = models.CharField(_("method"), max_length=8, choices=Method.choices)
    sequence_length = models.PositiveIntegerField(_("sequence length"))
    micro_batch = models.PositiveIntegerField(_("micro-batch"))
    lora_rank = models.PositiveIntegerField(_("LoRA rank"), null=True, blank=True)
    is_checkpointing = models.BooleanField(_("gradient checkpointing"), default=True)
    loss_kernel = models.CharField(
        _("loss"), max_length=8, choices=LossKernel.choices, default=LossKernel.PLAIN
    )
    optimizer = models.CharField(
        _("optimizer"),
        max_length=16,
        choices=Optimizer.choices,
        default=Optimizer.ADAMW,
    )
    image = protected("catalog.Image", _("image"))
    gpu = protected("catalog.GpuModel", _("GPU"))
    gpus = models.PositiveSmallIntegerField(_("number of GPUs"), default=1)
    regions = ArrayField(
        models.SlugField(), verbose_name=_("regions"), help_text=_("Their slugs.")
    )
    hours = models.PositiveIntegerField(_("hours"))
    currency: str
    limit_price = rate_field(_("price limit per GPU-hour"))
    storage_plan = protected("catalog.StoragePlan", _("storage plan"))
    storage_gb = models.PositiveIntegerField(_("storage, GB"))
    kept_days = models.PositiveSmallIntegerField(_("days kept after the end"))
    checkpoint_minutes = models.PositiveIntegerField(_("minutes between checkpoints"))
    checkpoints_kept = models.PositiveSmallIntegerField(_("checkpoints kept"))
    kept_at_end = models.CharField(
        _("kept at the end"), max_length=8, choices=KeptAtEnd.choices
    )
    dataset_note = models.CharField(_("dataset note"), max_length=500, blank=True)
    start_deadline = models.DateTimeField(_("start deadline"), null=True, blank=True)
    is_start_retried = models.BooleanField(
        _("a failed start is tried on the next offer"), default=False
    )

    class Meta:
        abstract = True
        constraints = [
            models.CheckConstraint(
                condition=Q(
                    sequence_length__gt=0,
                    micro_batch__gt=0,
                    checkpoint_minutes__gt=0,
                    checkpoints_kept__gt=0,
                ),
                name="%(class)s_recipe_positive",
            ),
            models.CheckConstraint(
                condition=Q(gpus__gte=1, gpus__lte=MAX_GPUS)
                & Q(hours__gte=1, hours__lte=MAX_HOURS)
                & Q(storage_gb__lte=MAX_STORAGE_GB)
                & Q(regions__len__gt=0),
                name="%(class)s_size_sane",
            ),
            models.CheckConstraint(
                condition=Q(limit_price__gt=0), name="%(class)s_limit_price_positive"
            ),
            models.CheckConstraint(
                condition=Q(method="full", lora_rank__isnull=True)
                | (~Q(method="full") & Q(lora_rank__gt=0)),
                name="%(class)s_rank_only_for_adapters",
            ),
            models.CheckConstraint(
                condition=Q(currency__in=settings.CURRENCIES),
                name="%(class)s_currency_known",
            ),
        ]

    def terms(self) -> dict[str, Any]:
        """
        Return the values of all columns of a specification, without reading what they
        refer to.
        """
        names = [field.attname for field in Specification._meta.concrete_fields]
        return {name: getattr(self, name) for name in names}

    @property
    def storage_hour_share(self) -> Decimal:
        """
        Return how many GB-months the storage uses up in one hour.
        """
        return Decimal(self.storage_gb) / 730
