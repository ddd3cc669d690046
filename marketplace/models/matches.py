from typing import ClassVar

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from catalog.models.fields import price_field


class MatchRun(models.Model):
    """
    Matches of one GPU that were decided together, and the book that they follow from.

    It holds the bids whose turn had come and the asks that they looked at, as
    marketplace.book_log writes them: added, never changed.
    """

    gpu = models.ForeignKey(
        "catalog.GpuModel", models.PROTECT, related_name="+", verbose_name=_("GPU")
    )
    at = models.DateTimeField(_("at"))
    bids = models.JSONField(_("bids"))
    asks = models.JSONField(_("asks"))

    objects: ClassVar["models.Manager[MatchRun]"] = models.Manager()

    class Meta:
        verbose_name = _("run of the matching")
        verbose_name_plural = _("runs of the matching")

    def __str__(self) -> str:
        return str(self.pk)


class Replay(models.Model):
    """
    That every match was derived again from the log, and what was found to differ.
    """

    at = models.DateTimeField(_("at"))
    runs = models.PositiveIntegerField(_("runs"))
    matches = models.PositiveIntegerField(_("matches"))
    differences = ArrayField(models.TextField(), verbose_name=_("differences"))

    objects: ClassVar["models.Manager[Replay]"] = models.Manager()

    class Meta:
        verbose_name = _("replay")
        verbose_name_plural = _("replays")

    def __str__(self) -> str:
        return str(self.pk)


class Match(models.Model):
    """
    A request and the offer it got, numbered in the order in which it was decided.

    Who is interrupted, or goes on after a stop, is matched again. Only matches from
    before there was a log have no `run`.
    """

    sequence = models.BigAutoField(_("number"), primary_key=True)
    workspace = models.ForeignKey(
        "workspaces.Workspace",
        models.PROTECT,
        related_name="matches",
        verbose_name=_("workspace"),
    )
    offer = models.ForeignKey(
        "catalog.Offer",
        models.PROTECT,
        related_name="matches",
        verbose_name=_("offer"),
    )
    hourly_price = price_field(
        _("price per GPU-hour"), help_text=_("The ask, in the offer's currency.")
    )
    matched_at = models.DateTimeField(_("matched at"))
    run = models.ForeignKey(
        MatchRun,
        models.PROTECT,
        null=True,
        related_name="matches",
        verbose_name=_("run"),
    )

    objects: ClassVar["models.Manager[Match]"] = models.Manager()

    class Meta:
        verbose_name = _("match")
        verbose_name_plural = _("matches")
        constraints = [
            models.CheckConstraint(
                condition=Q(hourly_price__gt=0), name="match_price_positive"
            ),
        ]
        indexes = [models.Index(fields=["offer", "-sequence"], name="match_offer")]

    def __str__(self) -> str:
        return str(self.pk)
