"""
What payment providers told us, word for word, and what became of it.
"""

from datetime import datetime
from typing import ClassVar, Self

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class ProviderEventQuerySet(models.QuerySet["ProviderEvent"]):
    def due(self, at: datetime) -> Self:
        """
        Keep the events to try again at `at`.
        """
        return self.filter(state__in=ProviderEvent.WAITING, next_try_at__lte=at)


ProviderEventManager = models.Manager.from_queryset(ProviderEventQuerySet)


class ProviderEvent(models.Model):
    """
    A signed event, stored before it is answered and acted on exactly once.
    """

    class State(models.TextChoices):
        RECEIVED = "RECEIVED", _("Received")
        PARKED = "PARKED", _("Came too early")
        DONE = "DONE", _("Done")
        IGNORED = "IGNORED", _("Nothing to do")
        QUARANTINED = "QUARANTINED", _("Needs a person")

    WAITING: ClassVar = [State.RECEIVED, State.PARKED]

    provider = models.CharField(_("provider"), max_length=16)
    event_id = models.CharField(_("event"), max_length=255)
    type = models.CharField(_("type"), max_length=100)
    body = models.TextField(_("body"))
    state = models.CharField(
        _("state"), max_length=11, choices=State.choices, default=State.RECEIVED
    )
    note = models.CharField(_("note"), max_length=500, blank=True)
    tries = models.PositiveIntegerField(_("tries"), default=0)
    received_at = models.DateTimeField(_("received"))
    next_try_at = models.DateTimeField(_("next try"))
    processed_at = models.DateTimeField(_("processed"), null=True, blank=True)

    objects = ProviderEventManager()

    class Meta:
        verbose_name = _("provider event")
        verbose_name_plural = _("provider events")
        constraints: ClassVar = [
            models.UniqueConstraint(
                "provider", "event_id", name="provider_event_unique_id"
            ),
            models.CheckConstraint(
                condition=Q(state__in=["RECEIVED", "PARKED"], processed_at__isnull=True)
                | Q(
                    state__in=["DONE", "IGNORED", "QUARANTINED"],
                    processed_at__isnull=False,
                ),
                name="provider_event_processed_has_time",
            ),
        ]
        indexes: ClassVar = [
            models.Index(
                "next_try_at",
                condition=Q(state__in=["RECEIVED", "PARKED"]),
                name="provider_event_waiting",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.event_id}"
