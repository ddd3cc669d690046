"""
The guides: what a kind of work needs, in every language.

Numbers are never written into a text: tables and costs on a guide come from the live
catalog, so that a text cannot grow old beside them.
"""

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from catalog.models.hardware import GpuModel
from catalog.models.offers import Supplier


class Workload(models.Model):
    """
    A kind of work that people rent GPUs for, and which GPUs its guide compares.
    """

    slug = models.SlugField(_("slug"), unique=True)
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    is_published = models.BooleanField(_("published"), default=False)
    gpus = models.ManyToManyField(
        GpuModel, through="WorkloadGpu", related_name="workloads"
    )
    example_gpu = models.ForeignKey(
        GpuModel,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("GPU of the cost example"),
    )
    example_supplier = models.ForeignKey(
        Supplier,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("supplier of the cost example"),
    )

    class Meta:
        verbose_name = _("workload")
        verbose_name_plural = _("workloads")

    def __str__(self) -> str:
        return self.slug


class WorkloadGpu(models.Model):
    """
    One row of a guide's table of GPUs.
    """

    workload = models.ForeignKey(Workload, models.CASCADE, related_name="rows")
    gpu = models.ForeignKey(GpuModel, models.PROTECT, verbose_name=_("GPU"))
    position = models.PositiveSmallIntegerField(_("position"))

    class Meta:
        verbose_name = _("row of the GPU table")
        verbose_name_plural = _("rows of the GPU table")
        constraints = [
            models.UniqueConstraint(
                fields=["workload", "gpu"], name="workloadgpu_unique_gpu"
            ),
        ]

    def __str__(self) -> str:
        return str(self.position)


class WorkloadText(models.Model):
    """
    A guide in one language.
    """

    workload = models.ForeignKey(Workload, models.CASCADE, related_name="texts")
    language = models.CharField(_("language"), max_length=8, choices=settings.LANGUAGES)
    title = models.CharField(_("title"), max_length=120)
    summary = models.CharField(
        _("summary"),
        max_length=200,
        help_text=_("One sentence for lists and search engines."),
    )
    lead = models.TextField(_("lead"))
    answer = models.TextField(
        _("direct answer"), help_text=_("What to rent, in three sentences.")
    )
    reviewed_by = models.CharField(_("reviewed by"), max_length=80)
    reviewed_date = models.DateField(_("reviewed on"))

    class Meta:
        verbose_name = _("guide text")
        verbose_name_plural = _("guide texts")
        constraints = [
            models.UniqueConstraint(
                fields=["workload", "language"],
                name="workloadtext_unique_language",
            ),
        ]

    def __str__(self) -> str:
        return self.title


class WorkloadBlock(models.Model):
    """
    One piece of a guide: a question with its answer, a step, a source.

    A body is plain text: blank lines separate paragraphs, lines that start with "- "
    are a list.
    """

    class Kind(models.TextChoices):
        TOPIC = "TOPIC", _("What matters")
        DECISION = "DECISION", _("Row of the decision table")
        BEST_FOR = "BEST_FOR", _("Best for")
        NOT_FOR = "NOT_FOR", _("Not for")
        STEP = "STEP", _("Decision step")
        SHORTLIST = "SHORTLIST", _("GPU of the shortlist")
        QUESTION = "QUESTION", _("Question")
        SOURCE = "SOURCE", _("Source")

    text = models.ForeignKey(WorkloadText, models.CASCADE, related_name="blocks")
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices)
    position = models.PositiveSmallIntegerField(_("position"))
    title = models.CharField(_("title"), max_length=200, blank=True)
    body = models.TextField(_("text"), blank=True)
    note = models.CharField(_("note"), max_length=300, blank=True)
    url = models.URLField(_("link"), max_length=300, blank=True)
    gpu = models.ForeignKey(
        GpuModel, models.PROTECT, null=True, blank=True, verbose_name=_("GPU")
    )

    class Meta:
        verbose_name = _("piece of a guide")
        verbose_name_plural = _("pieces of a guide")
        constraints = [
            models.UniqueConstraint(
                fields=["text", "kind", "position"],
                name="workloadblock_unique_position",
            ),
            models.CheckConstraint(
                condition=~Q(kind="SHORTLIST") | Q(gpu__isnull=False),
                name="workloadblock_shortlist_has_gpu",
            ),
            models.CheckConstraint(
                condition=~Q(kind="SOURCE") | ~Q(url=""),
                name="workloadblock_source_has_link",
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.body[:60]
