"""
What runs on a rented machine and where its data stays.
"""

from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from catalog.fit.architecture import Architecture
from catalog.models.fields import price_field


class Method(models.TextChoices):
    QLORA = "qlora", _("QLoRA")
    LORA = "lora", _("LoRA")
    FULL = "full", _("Full fine-tuning")


class StoragePlan(models.Model):
    """
    A price for keeping data, per GB and month; a month is 730 hours.
    """

    slug = models.SlugField(_("slug"), unique=True)
    name = models.CharField(_("name"), max_length=60, unique=True)
    monthly_price = price_field(
        _("price per GB-month"), help_text=_("For one GB over 730 hours.")
    )
    is_persistent = models.BooleanField(
        _("persistent"),
        help_text=_("Whether the data outlives the workspace."),
    )
    kept_days_after = models.PositiveSmallIntegerField(
        _("days kept after the end"),
        default=0,
        help_text=_("The most that a renter can pay for in advance."),
    )
    description = models.CharField(_("description"), max_length=300)
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    is_listed = models.BooleanField(_("listed"), default=True)

    objects: ClassVar["models.Manager[StoragePlan]"] = models.Manager()

    class Meta:
        verbose_name = _("storage plan")
        verbose_name_plural = _("storage plans")
        constraints = [
            models.CheckConstraint(
                condition=Q(monthly_price__gte=0),
                name="storageplan_price_not_negative",
            ),
            models.CheckConstraint(
                condition=Q(is_persistent=True) | Q(kept_days_after=0),
                name="storageplan_only_persistent_is_kept",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class Image(models.Model):
    """
    A container image that a workspace can start with.
    """

    slug = models.SlugField(_("slug"), unique=True)
    name = models.CharField(_("name"), max_length=60, unique=True)
    reference = models.CharField(
        _("reference"),
        max_length=200,
        help_text=_("What a container runtime pulls: registry/name:tag."),
    )
    libraries = ArrayField(
        models.CharField(max_length=60), verbose_name=_("libraries"), default=list
    )
    methods = ArrayField(
        models.CharField(max_length=8, choices=Method.choices),
        verbose_name=_("methods"),
    )
    source_url = models.URLField(_("source"), max_length=300)
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    is_listed = models.BooleanField(_("listed"), default=True)

    class Meta:
        verbose_name = _("image")
        verbose_name_plural = _("images")

    def __str__(self) -> str:
        return self.name


class BaseModel(models.Model):
    """
    An open model that can be fine-tuned: the shape that decides how much memory.

    Models that are not listed are only there because measurements name them.
    """

    slug = models.SlugField(_("slug"), max_length=100, unique=True)
    hf_id = models.CharField(_("Hugging Face id"), max_length=100, unique=True)
    name = models.CharField(_("name"), max_length=80)
    family = models.CharField(_("family"), max_length=40)
    is_listed = models.BooleanField(_("listed"), default=True)
    hidden_size = models.PositiveIntegerField(_("hidden size"))
    num_layers = models.PositiveIntegerField(_("layers"))
    num_heads = models.PositiveIntegerField(_("attention heads"))
    num_kv_heads = models.PositiveIntegerField(_("key and value heads"))
    head_dim = models.PositiveIntegerField(_("head dimension"))
    intermediate_size = models.PositiveIntegerField(_("intermediate size"))
    mlp_matrices = models.PositiveSmallIntegerField(_("matrices in the MLP"))
    norms_per_layer = models.PositiveSmallIntegerField(_("norms per layer"))
    norm_kind = models.CharField(_("kind of norm"), max_length=20)
    vocab_size = models.PositiveIntegerField(_("vocabulary"))
    tie_word_embeddings = models.BooleanField(_("tied embeddings"))
    num_experts = models.PositiveIntegerField(_("experts"), null=True, blank=True)
    experts_per_token = models.PositiveIntegerField(
        _("experts per token"), null=True, blank=True
    )
    moe_intermediate_size = models.PositiveIntegerField(
        _("intermediate size of an expert"), null=True, blank=True
    )
    max_position_embeddings = models.PositiveIntegerField(
        _("longest context"), null=True, blank=True, help_text=_("Tokens.")
    )
    total_params_b = models.DecimalField(
        _("parameters"),
        max_digits=9,
        decimal_places=4,
        help_text=_("In billions."),
    )
    license = models.CharField(_("license"), max_length=60, blank=True)
    source_url = models.URLField(_("source"), max_length=300)

    class Meta:
        verbose_name = _("base model")
        verbose_name_plural = _("base models")
        constraints = [
            models.CheckConstraint(
                condition=Q(total_params_b__gt=0, num_layers__gt=0, hidden_size__gt=0),
                name="basemodel_shape_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def architecture(self) -> Architecture:
        """
        Return the shape as the memory estimate wants it.
        """
        return Architecture(
            hidden_size=self.hidden_size,
            num_layers=self.num_layers,
            num_heads=self.num_heads,
            num_kv_heads=self.num_kv_heads,
            head_dim=self.head_dim,
            intermediate_size=self.intermediate_size,
            vocab_size=self.vocab_size,
            total_params_b=self.total_params_b,
            mlp_matrices=self.mlp_matrices,
            norms_per_layer=self.norms_per_layer,
            norm_kind=self.norm_kind,
            tie_word_embeddings=self.tie_word_embeddings,
            num_experts=self.num_experts or 0,
            experts_per_token=self.experts_per_token or 0,
            moe_intermediate_size=self.moe_intermediate_size or 0,
        )
