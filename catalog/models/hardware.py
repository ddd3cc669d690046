"""
Where something can be rented, and what the machine is.
"""

from decimal import Decimal

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


def _tflops(precision: str) -> "models.DecimalField[Decimal | None, Decimal | None]":
    return models.DecimalField(
        precision,
        max_digits=7,
        decimal_places=1,
        null=True,
        blank=True,
        help_text=_("Dense TFLOPS, without sparsity; empty if it cannot."),
    )


class GpuModel(models.Model):
    """
    One GPU as it is sold: a model in one form with one size of memory.

    Every figure is that of one GPU, never of a node, and comes from `source_url`.
    """

    slug = models.SlugField(_("slug"), unique=True)
    name = models.CharField(_("name"), max_length=80, unique=True)
    label = models.CharField(
        _("label"),
        max_length=40,
        unique=True,
        help_text=_("The short name that tables show."),
    )
    vendor = models.CharField(_("vendor"), max_length=40)
    architecture = models.CharField(_("architecture"), max_length=40)
    memory_gb = models.DecimalField(
        _("memory"), max_digits=6, decimal_places=1, help_text=_("GB on one GPU.")
    )
    process_memory_gb = models.DecimalField(
        _("memory of one process"),
        max_digits=6,
        decimal_places=1,
        null=True,
        blank=True,
        help_text=_("GB that one process sees, if that is less: a card of two dies."),
    )
    memory_type = models.CharField(_("memory type"), max_length=20)
    has_inline_ecc = models.BooleanField(
        _("ECC in memory"),
        default=False,
        help_text=_("A sixteenth of the memory holds check bits, as it is shipped."),
    )
    bandwidth_gbs = models.PositiveIntegerField(
        _("memory bandwidth"), help_text=_("GB/s of one GPU.")
    )
    fp16_tflops = _tflops("FP16")
    bf16_tflops = _tflops("BF16")
    fp8_tflops = _tflops("FP8")
    fp32_tflops = _tflops("FP32")
    fp64_tflops = _tflops("FP64")
    rt_cores = models.PositiveSmallIntegerField(
        _("RT cores"),
        null=True,
        blank=True,
        help_text=_("Units for ray tracing; 0 if it has none, empty if unknown."),
    )
    tdp_w = models.DecimalField(
        _("power limit"), max_digits=6, decimal_places=1, help_text=_("Watts.")
    )
    form_factor = models.CharField(_("form factor"), max_length=20)
    nvlink = models.CharField(_("link between GPUs"), max_length=60)
    launch_year = models.PositiveSmallIntegerField(_("launched in"))
    source_url = models.URLField(_("source"), max_length=300)
    note = models.CharField(_("note"), max_length=300, blank=True)

    class Meta:
        verbose_name = _("GPU")
        verbose_name_plural = _("GPUs")
        constraints = [
            models.CheckConstraint(
                condition=Q(memory_gb__gt=0, bandwidth_gbs__gt=0, tdp_w__gt=0),
                name="gpumodel_figures_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.label

    @property
    def process_gb(self) -> Decimal:
        """
        GB that a training on this GPU can use.
        """
        return self.process_memory_gb or self.memory_gb


class Region(models.Model):
    """
    A place that a renter can choose because of where the data then is.
    """

    slug = models.SlugField(_("slug"), unique=True)
    name = models.CharField(_("name"), max_length=40, unique=True)
    city = models.CharField(_("city"), max_length=60)
    country = models.CharField(
        _("country"), max_length=2, help_text=_("Two letters, ISO 3166.")
    )

    class Meta:
        verbose_name = _("region")
        verbose_name_plural = _("regions")

    def __str__(self) -> str:
        return f"{self.name} · {self.city}"
