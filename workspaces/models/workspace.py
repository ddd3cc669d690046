"""
A funded request and what became of it.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, ClassVar, Self

from django.conf import settings
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from workspaces.models.quote import Quote
from workspaces.models.specification import Specification, maybe_rate_field
from workspaces.states import CANCELLABLE, ON_A_NODE, RULES, WAITING, Rule, State

if TYPE_CHECKING:
    from marketplace.models import User


class WorkspaceQuerySet(models.QuerySet["Workspace"]):
    def owned_by(self, user: "User") -> Self:
        return self.filter(user=user)

    def queued(self) -> Self:
        """
        Keep the requests that wait in the order book.
        """
        return self.filter(state=State.QUEUED)

    def over_due(self, at: datetime) -> Self:
        """
        Keep those whose paid time, kept days or start deadline are over at `at`.
        """
        return self.filter(
            Q(state=State.RUNNING, ends_at__lte=at)
            | Q(state=State.STOPPED, kept_until__lte=at)
            | Q(state__in=WAITING, start_deadline__lte=at)
        )

    def with_names(self) -> Self:
        """
        Read along what a page says about a workspace.
        """
        return self.select_related(
            "base_model", "image", "gpu", "storage_plan", "quote", "offer__region"
        )


WorkspaceManager = models.Manager.from_queryset(WorkspaceQuerySet)


class Workspace(Specification):
    """
    A request that was funded; its state decides what it charges (workspaces.states).

    The id is that of its quote. `hourly_price` is what was agreed at the match:
    nothing that happens to the catalog changes it.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    quote = models.OneToOneField(
        Quote, models.PROTECT, related_name="workspace", verbose_name=_("quote")
    )
    state = models.CharField(_("state"), max_length=12, choices=State.choices)
    offer = models.ForeignKey(
        "catalog.Offer",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="workspaces",
        verbose_name=_("offer"),
    )
    hourly_amount = maybe_rate_field(_("price per GPU-hour"))
    hold = models.OneToOneField(
        "billing.Hold", models.PROTECT, related_name="+", verbose_name=_("hold")
    )
    compute_meter = models.OneToOneField(
        "billing.Meter",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("running GPU meter"),
    )
    storage_meter = models.OneToOneField(
        "billing.Meter",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("running storage meter"),
    )
    address = models.CharField(
        _("address"), max_length=200, blank=True, help_text=_("user@host:port")
    )
    funded_at = models.DateTimeField(_("funded at"))
    provisioning_at = models.DateTimeField(_("set-up began at"), null=True, blank=True)
    started_at = models.DateTimeField(_("ready at"), null=True, blank=True)
    ends_at = models.DateTimeField(_("ends at"), null=True, blank=True)
    stopped_at = models.DateTimeField(_("stopped at"), null=True, blank=True)
    kept_until = models.DateTimeField(_("data kept until"), null=True, blank=True)

    objects = WorkspaceManager()

    class Meta(Specification.Meta):
        verbose_name = _("workspace")
        verbose_name_plural = _("workspaces")
        constraints = [
            *Specification.Meta.constraints,
            models.CheckConstraint(
                condition=Q(id=F("quote")), name="workspace_keeps_the_id_of_its_quote"
            ),
            models.CheckConstraint(
                condition=Q(state__in=State.values), name="workspace_state_known"
            ),
            models.CheckConstraint(
                condition=~Q(state__in=sorted(ON_A_NODE))
                | Q(offer__isnull=False, hourly_amount__isnull=False),
                name="workspace_on_a_node_has_offer_and_price",
            ),
            models.CheckConstraint(
                condition=Q(hourly_amount__isnull=True)
                | Q(hourly_amount__gt=0, hourly_amount__lte=F("limit_price")),
                name="workspace_never_pays_over_its_limit",
            ),
            models.CheckConstraint(
                condition=Q(state=State.RUNNING, compute_meter__isnull=False)
                | (~Q(state=State.RUNNING) & Q(compute_meter__isnull=True)),
                name="workspace_charges_compute_only_while_running",
            ),
            models.CheckConstraint(
                condition=Q(state__in=[State.RUNNING, State.STOPPED])
                | Q(storage_meter__isnull=True),
                name="workspace_charges_storage_only_while_data_exist",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.RUNNING)
                | (Q(started_at__isnull=False, ends_at__gt=F("started_at"))),
                name="workspace_running_has_an_end",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.STOPPED) | Q(kept_until__gt=F("stopped_at")),
                name="workspace_stopped_has_a_day_of_deletion",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "ends_at"], name="workspace_state_ends_at"),
            models.Index(fields=["user", "-funded_at"], name="workspace_user_funded"),
        ]

    def __str__(self) -> str:
        return self.code

    def get_absolute_url(self) -> str:
        return reverse("workspaces:detail", args=[self.pk])

    @property
    def code(self) -> str:
        """
        Return the short name: how its id, and so the address of its page, begins.
        """
        return self.pk.hex[:6].upper()

    @property
    def hourly_price(self) -> Money | None:
        """
        Return the price of a GPU for an hour, once it is agreed.
        """
        if self.hourly_amount is None:
            return None
        return Money(self.hourly_amount, self.currency)

    @property
    def rule(self) -> Rule:
        return RULES[State(self.state)]

    @property
    def can_be_cancelled(self) -> bool:
        return self.state in CANCELLABLE

    @property
    def can_be_stopped(self) -> bool:
        return self.state == State.RUNNING

    @property
    def can_keep_data(self) -> bool:
        return self.state == State.RUNNING and self.kept_days > 0

    @property
    def can_delete_data(self) -> bool:
        return self.state == State.STOPPED

    @property
    def compute_per_hour(self) -> Money:
        """
        Return what its GPUs cost an hour: at the agreed price, or at most.
        """
        return (self.hourly_price or self.limit_price) * self.gpus

    @property
    def storage_per_hour(self) -> Money:
        return self.quote.storage_rate * self.storage_hour_share

    @property
    def burn(self) -> Money:
        """
        Return what it costs an hour in the state it is in.
        """
        nothing = Money(Decimal(0), self.currency)
        compute = self.compute_per_hour if self.rule.is_compute_charged else nothing
        storage = self.storage_per_hour if self.rule.is_storage_charged else nothing
        return compute + storage

    @property
    def charged_until(self) -> datetime | None:
        """
        Return when it stops to charge by itself, if it charges now.
        """
        if self.state == State.RUNNING:
            return self.ends_at
        return self.kept_until if self.state == State.STOPPED else None

    def time_left(self, at: datetime) -> timedelta | None:
        """
        Return how long what was paid for still lasts, if it charges now.
        """
        end = self.charged_until
        return None if end is None else max(end - at, timedelta())

    def time_used(self, at: datetime) -> timedelta | None:
        """
        Return how long it has run, or did run, if it ever was ready.
        """
        if self.started_at is None:
            return None
        return max((self.stopped_at or at) - self.started_at, timedelta())

    @property
    def ssh_command(self) -> str:
        """
        Return the line that opens a shell on it, while it runs.
        """
        if self.state != State.RUNNING or not self.address:
            return ""
        host, _colon, port = self.address.rpartition(":")
        return f"ssh -p {port} {host}"


class WorkspaceEvent(models.Model):
    """
    One move of a workspace: into which state, when, by whom and why.

    No actor means that it happened by itself. `returned` is what came back to the
    wallet with it.
    """

    workspace = models.ForeignKey(
        Workspace, models.PROTECT, related_name="events", verbose_name=_("workspace")
    )
    state = models.CharField(_("state"), max_length=12, choices=State.choices)
    actor = models.ForeignKey(
        settings.AUTH_USER_MODEL,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("by"),
    )
    reason = models.CharField(_("reason"), max_length=300, blank=True)
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
                condition=Q(returned__gte=0),
                name="workspaceevent_returned_not_negative",
            ),
        ]
        indexes = [models.Index(fields=["workspace", "id"], name="event_workspace")]

    def __str__(self) -> str:
        return f"{self.workspace_id} {self.state}"

    @property
    def money_returned(self) -> Money:
        return Money(self.returned, self.workspace.currency)
