"""
What happened to a workspace, one row after the other: added, never changed.
"""

from decimal import Decimal
from typing import ClassVar

from django.conf import settings
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from workspaces.models.quote import Quote
from workspaces.models.specification import maybe_rate_field
from workspaces.models.workspace import Workspace
from workspaces.states import State


class Code(models.TextChoices):
    """
    What kind of event it was, where the new state alone does not say so.
    """

    HARDWARE = "HARDWARE", _("The hardware failed")
    POWER = "POWER", _("The power failed")
    NETWORK = "NETWORK", _("The network failed")
    MAINTENANCE = "MAINTENANCE", _("The supplier maintains the node")
    WITHDRAWN = "WITHDRAWN", _("The supplier took the node back")
    UNREACHABLE = "UNREACHABLE", _("The node does not answer any more")
    START_FAILED = "START_FAILED", _("The start failed")
    START_LATE = "START_LATE", _("Nobody confirmed the start in time")
    RESUME_ASKED = "RESUME_ASKED", _("Asked to go on")
    RESUME_GIVEN_UP = "RESUME_GIVEN_UP", _("No longer waits to go on")
    EXTENDED = "EXTENDED", _("Extended")
    AUTO_ON = "AUTO_ON", _("Automatic extension switched on")
    AUTO_OFF = "AUTO_OFF", _("Automatic extension switched off")


INTERRUPTIONS = (
    Code.HARDWARE,
    Code.POWER,
    Code.NETWORK,
    Code.MAINTENANCE,
    Code.WITHDRAWN,
    Code.UNREACHABLE,
)
UNSTARTED = (Code.START_FAILED, Code.START_LATE)


class WorkspaceEvent(models.Model):
    """
    One move of a workspace: into which state, when, by whom and why.

    No actor means that it happened by itself. `held` is what was set aside with it,
    `returned` what came back to the wallet. `offer` and `hourly_amount` are those of
    the node that it was on then.
    """

    workspace = models.ForeignKey(
        Workspace, models.PROTECT, related_name="events", verbose_name=_("workspace")
    )
    state = models.CharField(_("state"), max_length=12, choices=State.choices)
    code = models.CharField(_("kind"), max_length=16, choices=Code.choices, blank=True)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("by"),
    )
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    quote = models.ForeignKey(
        Quote,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("quote"),
    )
    offer = models.ForeignKey(
        "catalog.Offer",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("offer"),
    )
    hourly_amount = maybe_rate_field(_("price per GPU-hour"))
    held = models.DecimalField(
        _("held"), max_digits=14, decimal_places=2, default=Decimal(0)
    )
    returned = models.DecimalField(
        _("came back"), max_digits=14, decimal_places=2, default=Decimal(0)
    )
    at = models.DateTimeField(_("at"))

    objects: ClassVar["models.Manager[WorkspaceEvent]"] = models.Manager()

    class Meta:
        verbose_name = _("event")
        verbose_name_plural = _("events")
        constraints = [
            models.CheckConstraint(
                condition=Q(state__in=State.values), name="workspaceevent_state_known"
            ),
            models.CheckConstraint(
                condition=Q(returned__gte=0, held__gte=0),
                name="workspaceevent_returned_not_negative",
            ),
        ]
        indexes = [
            models.Index(fields=["workspace", "id"], name="event_workspace"),
            models.Index(fields=["offer", "at"], name="event_offer_at"),
        ]

    def __str__(self) -> str:
        return f"{self.workspace_id} {self.state}"

    @property
    def is_interruption(self) -> bool:
        return self.code in INTERRUPTIONS
