"""
A funded request and what became of it.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Self

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models import F, Q
from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from money import round_half_up
from workspaces.models.quote import Quote
from workspaces.models.specification import Specification, maybe_rate_field
from workspaces.ssh import fingerprint_of
from workspaces.states import (
    CANCELLABLE,
    ON_A_NODE,
    RULES,
    STARTING,
    WAITING,
    Rule,
    State,
)

if TYPE_CHECKING:
    from marketplace.models import User


SECOND = timedelta(seconds=1)
NOT_YET_RUNNING = STARTING | {State.QUEUED}
IN_BOOK = Q(state=State.QUEUED) | Q(state=State.STOPPED, resume_asked_at__isnull=False)


class WorkspaceQuerySet(models.QuerySet["Workspace"]):
    def owned_by(self, user: "User") -> Self:
        return self.filter(user=user)

    def queued(self) -> Self:
        """
        Keep what waits in the order book: requests, and what is stopped and goes on.
        """
        return self.filter(IN_BOOK)

    def waiting(self) -> Self:
        """
        Keep what is in the order book, or will be when the market opens.
        """
        return self.filter(IN_BOOK | Q(state=State.FUNDED))

    def over_due(self, at: datetime) -> Self:
        """
        Keep those whose paid time, kept days or start deadline are over at `at`.
        """
        return self.filter(
            Q(state=State.RUNNING, compute_meter__ends_at__lte=at)
            | Q(state=State.STOPPED, kept_until__lte=at)
            | Q(state__in=WAITING, start_deadline__lte=at)
        )

    def with_names(self) -> Self:
        """
        Read along what a page says about a workspace.
        """
        return self.select_related(
            "base_model",
            "image",
            "gpu",
            "storage_plan",
            "quote",
            "offer__region",
            "compute_meter",
        )


WorkspaceManager = models.Manager.from_queryset(WorkspaceQuerySet)


class Workspace(Specification):
    """
    A request that was funded; its state decides what it charges (workspaces.states).

    The id is that of its first quote; `quote` is the one that it runs on now, another
    one after each resume. `hourly_price` is what was agreed at the match: nothing that
    happens to the catalog changes it. When its time is over is said by its running
    meter alone, because that may be extended without it.
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
    data_offer = models.ForeignKey(
        "catalog.Offer",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        verbose_name=_("offer that has the data"),
    )
    avoided_offers = ArrayField(
        models.BigIntegerField(),
        verbose_name=_("offers that it does not take"),
        default=list,
        blank=True,
        help_text=_("A start failed there."),
    )
    seconds_left = models.PositiveIntegerField(
        _("seconds to run from the next start"),
    )
    seconds_run = models.PositiveIntegerField(_("seconds run before"), default=0)
    address = models.CharField(
        _("address"), max_length=200, blank=True, help_text=_("user@host:port")
    )
    host_key = models.CharField(_("host key"), max_length=800, blank=True)
    funded_at = models.DateTimeField(_("funded at"))
    provisioning_at = models.DateTimeField(_("set-up began at"), null=True, blank=True)
    started_at = models.DateTimeField(_("first ready at"), null=True, blank=True)
    stopped_at = models.DateTimeField(_("stopped at"), null=True, blank=True)
    kept_until = models.DateTimeField(_("data kept until"), null=True, blank=True)
    resume_asked_at = models.DateTimeField(
        _("waits to go on since"), null=True, blank=True
    )

    objects = WorkspaceManager()

    class Meta(Specification.Meta):
        verbose_name = _("workspace")
        verbose_name_plural = _("workspaces")
        constraints = [
            *Specification.Meta.constraints,
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
                | Q(started_at__isnull=False, data_offer__isnull=False),
                name="workspace_running_has_a_start",
            ),
            models.CheckConstraint(
                condition=~Q(state__in=sorted(WAITING | STARTING))
                | Q(seconds_left__gt=0),
                name="workspace_waits_for_time_it_paid",
            ),
            models.CheckConstraint(
                condition=Q(resume_asked_at__isnull=True)
                | Q(state__in=[State.STOPPED, *sorted(STARTING)]),
                name="workspace_goes_on_from_a_stop",
            ),
            models.CheckConstraint(
                condition=~Q(state=State.STOPPED) | Q(kept_until__gt=F("stopped_at")),
                name="workspace_stopped_has_a_day_of_deletion",
            ),
        ]
        indexes = [
            models.Index(fields=["state", "funded_at"], name="workspace_state_funded"),
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
    def has_run(self) -> bool:
        return self.started_at is not None

    @property
    def is_resuming(self) -> bool:
        return self.resume_asked_at is not None

    @property
    def is_waiting(self) -> bool:
        """
        Return whether it is in the order book, or will be when the market opens.
        """
        return self.state in WAITING or (
            self.state == State.STOPPED and self.is_resuming
        )

    @property
    def is_interrupted(self) -> bool:
        """
        Return whether it ran, was interrupted, and has not been started again yet.
        """
        return self.has_run and not self.is_resuming and self.state in NOT_YET_RUNNING

    @property
    def can_be_cancelled(self) -> bool:
        return self.state in CANCELLABLE and not self.has_run

    @property
    def can_be_stopped(self) -> bool:
        return self.state == State.RUNNING or self.is_interrupted

    @property
    def can_keep_data(self) -> bool:
        return self.can_be_stopped and self.kept_days > 0

    @property
    def can_be_extended(self) -> bool:
        return self.state in {State.RUNNING, State.STOPPED}

    @property
    def can_be_resumed(self) -> bool:
        return self.state == State.STOPPED and not self.is_resuming

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
    def ends_at(self) -> datetime | None:
        """
        Return when a running one ends by itself.
        """
        return self.compute_meter.ends_at if self.compute_meter else None

    @property
    def hours_left(self) -> int:
        """
        Return how many hours, begun ones as whole, a node has to last for it.
        """
        return -(-self.seconds_left // 3600)

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
        Return how long it has run on its nodes, if it ever was ready.
        """
        if not self.has_run:
            return None
        before = timedelta(seconds=self.seconds_run)
        meter = self.compute_meter
        return before + max(at - meter.started_at, timedelta()) if meter else before

    def time_paid(self) -> timedelta:
        """
        Return how long it has run and will run, as far as that is paid for.
        """
        time = timedelta(seconds=self.seconds_run + self.seconds_left)
        meter = self.compute_meter
        return time + (meter.ends_at - meter.started_at) if meter else time

    def hours_paid(self) -> Decimal:
        """
        Return the same in hours, to a tenth where they are not whole.
        """
        hours = round_half_up(Decimal(self.time_paid() // SECOND) / 3600, 1)
        return hours.quantize(Decimal(1)) if hours == int(hours) else hours

    @property
    def ssh_command(self) -> str:
        """
        Return the line that opens a shell on it, while it runs.
        """
        if self.state != State.RUNNING or not self.address:
            return ""
        host, _colon, port = self.address.rpartition(":")
        return f"ssh -p {port} {host}"

    @property
    def host_fingerprint(self) -> str:
        """
        Return how SSH names the machine when somebody connects first, if known.
        """
        return fingerprint_of(self.host_key) if self.host_key else ""
