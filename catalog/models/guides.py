"""
The guides: what a kind of work needs, in every language.

Prices are never written into a text: tables and costs on a guide come from the live
catalog, so that a text cannot grow old beside them. A text is kept in versions: saving
adds one, publishing chooses one, and nothing that was saved is changed or lost.
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

    class Table(models.TextChoices):
        FIT = "FIT", _("Fine-tuning: largest base model by method")
        TRAINING = "TRAINING", _("Training: largest model on one and on eight GPUs")
        SERVING = "SERVING", _("Inference: largest model by precision, bandwidth")
        IMAGES = "IMAGES", _("Images and video: memory and tensor throughput")
        RENDERING = "RENDERING", _("Rendering: FP32 and RT cores")
        SIMULATION = "SIMULATION", _("Simulation: FP64, FP32 and bandwidth")

    slug = models.SlugField(_("slug"), unique=True)
    position = models.PositiveSmallIntegerField(_("position"), default=0)
    is_published = models.BooleanField(_("published"), default=False)
    table = models.CharField(
        _("columns of the table"),
        max_length=12,
        choices=Table.choices,
        default=Table.FIT,
    )
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
        help_text=_("Empty: the best live ask."),
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
    One version of a guide in one language.

    `digest` is the SHA-256 of the data file that it was loaded from, empty for what
    staff wrote.
    """

    workload = models.ForeignKey(Workload, models.CASCADE, related_name="texts")
    language = models.CharField(_("language"), max_length=8, choices=settings.LANGUAGES)
    number = models.PositiveIntegerField(_("version"))
    is_published = models.BooleanField(_("published"), default=False)
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
    note = models.CharField(
        _("what changed"),
        max_length=200,
        blank=True,
        help_text=_("For the list of versions; readers do not see it."),
    )
    digest = models.CharField(max_length=64, blank=True, editable=False)
    created_at = models.DateTimeField(_("saved"))
    created_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("saved by"),
    )
    published_at = models.DateTimeField(_("last published"), null=True, blank=True)
    published_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("published by"),
    )

    class Meta:
        verbose_name = _("guide text")
        verbose_name_plural = _("guide texts")
        constraints = [
            models.UniqueConstraint(
                fields=["workload", "language", "number"],
                name="workloadtext_unique_number",
            ),
            models.UniqueConstraint(
                fields=["workload", "language"],
                condition=Q(is_published=True),
                name="workloadtext_one_published",
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
            models.CheckConstraint(
                condition=Q(url="") | Q(url__startswith="https://"),
                name="workloadblock_links_are_https",
            ),
        ]

    def __str__(self) -> str:
        return self.title or self.body[:60]
