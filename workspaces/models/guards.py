"""
What watches over workspaces: mails that are sent once, and what does not add up.
"""

from datetime import timedelta
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from workspaces.models.workspace import Workspace


class Reminder(models.Model):
    """
    A mail about a workspace that was sent, once for what it is `about`.

    That is the moment of deletion that it warns of, the week that it reports, the end
    that comes near, or the moment since which the machine is idle.
    """

    class Kind(models.TextChoices):
        DELETION = "DELETION", _("Data will be deleted")
        STORAGE = "STORAGE", _("Stopped, and paid for")
        END = "END", _("The end comes near")
        IDLE = "IDLE", _("Nothing runs on it")
        INTERRUPTED = "INTERRUPTED", _("Interrupted")

    workspace = models.ForeignKey(
        Workspace, models.CASCADE, related_name="reminders", verbose_name=_("workspace")
    )
    kind = models.CharField(_("kind"), max_length=12, choices=Kind)
    about = models.DateTimeField(_("about"))
    ahead = models.DurationField(_("ahead"), default=timedelta())
    sent_at = models.DateTimeField(_("sent at"))

    objects: ClassVar["models.Manager[Reminder]"] = models.Manager()

    class Meta:
        verbose_name = _("reminder")
        verbose_name_plural = _("reminders")
        constraints = [
            models.UniqueConstraint(
                fields=["workspace", "kind", "about", "ahead"], name="reminder_once"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.workspace_id} {self.kind}"


class Discrepancy(models.Model):
    """
    Something about a workspace that does not go with its bill; staff look into it.

    It is closed by itself once it is gone, or by a person who says what was done.
    """

    class Kind(models.TextChoices):
        BILLED_NOT_RUNNING = "BILLED_NOT_RUNNING", _("Billed, but not running")
        RUNNING_NOT_BILLED = "RUNNING_NOT_BILLED", _("Running, but not billed")
        MACHINE_DOWN = "MACHINE_DOWN", _("Billed, but the machine is down")
        GUARD_FAILED = "GUARD_FAILED", _("Ran longer than it may")

    kind = models.CharField(_("kind"), max_length=20, choices=Kind)
    workspace = models.ForeignKey(
        Workspace,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="discrepancies",
        verbose_name=_("workspace"),
    )
    meter = models.CharField(_("meter"), max_length=40, blank=True)
    detail = models.CharField(_("what is seen"), max_length=300)
    first_seen_at = models.DateTimeField(_("first seen"))
    last_seen_at = models.DateTimeField(_("last seen"))
    resolved_at = models.DateTimeField(_("closed at"), null=True, blank=True)
    resolved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("closed by"),
    )
    note = models.CharField(_("what was done"), max_length=300, blank=True)

    objects: ClassVar["models.Manager[Discrepancy]"] = models.Manager()

    class Meta:
        verbose_name = _("discrepancy")
        verbose_name_plural = _("discrepancies")
        constraints = [
            models.UniqueConstraint(
                fields=["kind", "workspace", "meter"],
                condition=Q(resolved_at=None),
                nulls_distinct=False,
                name="discrepancy_open_once",
            ),
        ]

    def __str__(self) -> str:
        return self.detail
