from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class LaunchManager(models.Manager["Launch"]):
    def current(self) -> "Launch":
        """
        Return the one row, or an unsaved one while staff have set nothing yet.
        """
        return self.first() or Launch()

    def locked(self) -> "Launch":
        """
        Return the one row, made if need be, locked until the transaction ends.
        """
        self.get_or_create(pk=Launch.THE_ONE)
        return self.select_for_update().get()


class Launch(models.Model):
    """
    When the market opens, and whether it is open: one row, kept by staff.
    """

    THE_ONE = 1

    id = models.PositiveSmallIntegerField(
        primary_key=True, default=THE_ONE, editable=False
    )
    opens_at = models.DateTimeField(_("planned opening"), null=True, blank=True)
    opened_at = models.DateTimeField(_("opened at"), null=True, blank=True)
    matched_at = models.DateTimeField(_("book first matched at"), null=True, blank=True)
    paused_at = models.DateTimeField(_("paused at"), null=True, blank=True)
    pause_reason = models.CharField(_("reason"), max_length=200, blank=True)

    objects = LaunchManager()

    class Meta:
        verbose_name = _("launch")
        verbose_name_plural = _("launch")
        constraints = [
            models.CheckConstraint(condition=Q(pk=1), name="launch_only_one"),
            models.CheckConstraint(
                condition=Q(paused_at__isnull=True) | Q(opened_at__isnull=False),
                name="launch_paused_only_when_opened",
            ),
            models.CheckConstraint(
                condition=Q(paused_at__isnull=True, pause_reason="")
                | (Q(paused_at__isnull=False) & ~Q(pause_reason="")),
                name="launch_paused_with_reason",
            ),
        ]

    def __str__(self) -> str:
        return str(self._meta.verbose_name)

    @property
    def is_open(self) -> bool:
        return self.opened_at is not None and self.paused_at is None


class LaunchEvent(models.Model):
    """
    What staff did to the launch, and when: added, never changed.
    """

    class Kind(models.TextChoices):
        PLANNED = "PLANNED", _("Opening planned")
        OPENED = "OPENED", _("Market opened")
        PAUSED = "PAUSED", _("Market paused")
        RESUMED = "RESUMED", _("Market opened again")

    kind = models.CharField(_("what"), max_length=16, choices=Kind)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        # Whoever opened a market stays known.
        models.PROTECT,
        null=True,
        related_name="+",
        verbose_name=_("who"),
    )
    opens_at = models.DateTimeField(_("planned opening"), null=True)
    reason = models.CharField(_("reason"), max_length=200, blank=True)
    at = models.DateTimeField(_("when"))

    class Meta:
        verbose_name = _("launch event")
        verbose_name_plural = _("launch events")

    def __str__(self) -> str:
        return self.get_kind_display()


class OpeningLetter(models.Model):
    """
    That somebody was told how the opening went for them: one mail for each account.
    """

    user = models.OneToOneField(
        settings.AUTH_USER_MODEL,
        models.CASCADE,
        related_name="+",
        verbose_name=_("user"),
    )
    sent_at = models.DateTimeField(_("sent at"))

    objects: ClassVar["models.Manager[OpeningLetter]"] = models.Manager()

    class Meta:
        verbose_name = _("mail about the opening")
        verbose_name_plural = _("mails about the opening")

    def __str__(self) -> str:
        return str(self.user_id)
