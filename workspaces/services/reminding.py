"""
Mails that are sent once: each is a row in the transaction that writes the mail.
"""

from collections.abc import Callable, Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID
from zoneinfo import ZoneInfo

from django.db import transaction

import formats
from billing import services as billing
from billing.mails import address_of, queue_mail
from catalog import costs
from workspaces.models import Metered, Reminder, State, Workspace
from workspaces.models.events import INTERRUPTIONS, WorkspaceEvent
from workspaces.provisioner import provisioner
from workspaces.services.holding import cost_of_keeping

if TYPE_CHECKING:
    from marketplace.models import User

Kind = Reminder.Kind
WEEK = timedelta(days=7)
# The two that fit into the days that were paid for.
AHEAD = (timedelta(days=3), timedelta(days=1), timedelta(hours=6))
WARNINGS = 2
IDLE_FOR = timedelta(hours=2)
INTERRUPTED_WITHIN = timedelta(days=1)


def send_reminders(*, at: datetime) -> int:
    """
    Write the mails that are due and were not sent before; return how many.
    """
    sweeps: Iterable[Callable[[datetime], int]] = (
        _warn_of_deletion,
        _report_storage,
        _warn_of_ends,
        _tell_of_interruptions,
        _ask_about_idle,
    )
    return sum(sweep(at) for sweep in sweeps)


def _stopped() -> Iterable[Workspace]:
    stopped = Workspace.objects.filter(state=State.STOPPED).with_names()
    return stopped.select_related("user").order_by("pk")


def _warn_of_deletion(at: datetime) -> int:
    """
    Twice before kept data are deleted; after an outage only what is still useful.
    """
    sent = 0
    for workspace in _stopped():
        assert workspace.kept_until is not None
        assert workspace.stopped_at is not None
        kept = workspace.kept_until - workspace.stopped_at
        left = workspace.kept_until - at
        fitting = [ahead for ahead in AHEAD if ahead <= kept][:WARNINGS]
        due = [ahead for ahead in fitting if timedelta() < left <= ahead]
        if due:
            sent += _once(
                workspace,
                Kind.DELETION,
                about=workspace.kept_until,
                ahead=min(due),
                at=at,
                deleted_at=workspace.kept_until,
            )
    return sent


def _report_storage(at: datetime) -> int:
    """
    Every week while data are kept: what that costs, and how to end it.
    """
    sent = 0
    for workspace in _stopped():
        assert workspace.stopped_at is not None
        weeks = (at - workspace.stopped_at) // WEEK
        if weeks < 1 or not workspace.storage_meter_id:
            continue
        sent += _once(
            workspace,
            Kind.STORAGE,
            about=workspace.stopped_at + weeks * WEEK,
            at=at,
            per_month=cost_of_keeping(workspace, timedelta(seconds=costs.DAY * 30)),
            kept_until=workspace.kept_until,
        )
    return sent


def _warn_of_ends(at: datetime) -> int:
    """
    Pass on billing's warnings; those of kept data have mails of their own.
    """
    sent = 0
    for warning in billing.unsent_warnings():
        with transaction.atomic():
            if not billing.mark_warning_sent(warning_id=warning.id, at=at):
                continue
            workspace = _of_reference(warning.reference)
            if warning.meter_name != Metered.COMPUTE or workspace is None:
                continue
            if workspace.ends_at == warning.ends_at:
                sent += _once(
                    workspace,
                    Kind.END,
                    about=warning.ends_at,
                    ahead=timedelta(hours=warning.hours_before),
                    at=at,
                    ends_at=warning.ends_at,
                    hours=warning.hours_before,
                )
    return sent


def _of_reference(reference: str) -> Workspace | None:
    try:
        workspace_id = UUID(reference.removeprefix("workspace:"))
    except ValueError:
        return None
    workspaces = Workspace.objects.with_names().select_related("user")
    return workspaces.filter(pk=workspace_id).first()


def _tell_of_interruptions(at: datetime) -> int:
    events = WorkspaceEvent.objects.filter(
        code__in=INTERRUPTIONS, at__gt=at - INTERRUPTED_WITHIN
    ).select_related("workspace__user")
    return sum(
        _once(
            event.workspace,
            Kind.INTERRUPTED,
            about=event.at,
            at=at,
            broken_at=event.at,
            event=event,
        )
        for event in events.order_by("pk")
    )


def _ask_about_idle(at: datetime) -> int:
    """
    Ask about machines of which the adapter knows that nothing runs on them.
    """
    sent = 0
    adapter = provisioner()
    running = Workspace.objects.filter(state=State.RUNNING).with_names()
    for workspace in running.select_related("user"):
        seen = adapter.observe(workspace, at=at)
        idle_since = seen.idle_since if seen else None
        if idle_since is not None and at - idle_since >= IDLE_FOR:
            sent += _once(
                workspace, Kind.IDLE, about=idle_since, at=at, idle_since=idle_since
            )
    return sent


@transaction.atomic
def _once(
    workspace: Workspace,
    kind: Kind,
    *,
    about: datetime,
    at: datetime,
    ahead: timedelta = timedelta(),
    **told: Any,
) -> bool:
    _row, is_new = Reminder.objects.get_or_create(
        workspace=workspace,
        kind=kind,
        about=about,
        ahead=ahead,
        defaults={"sent_at": at},
    )
    if is_new:
        queue_mail(
            f"workspace_{kind.lower()}",
            to=workspace.user.email,
            language=workspace.user.language,
            workspace=workspace,
            url=address_of(
                workspace.get_absolute_url, language=workspace.user.language
            ),
            **{name: _in_words(value, workspace.user) for name, value in told.items()},
        )
    return is_new


def _in_words(value: Any, user: "User") -> Any:
    """
    Return a moment as the clocks of its reader show it, and all else as it is.
    """
    if not isinstance(value, datetime):
        return value
    return formats.date_time(value, user.language, ZoneInfo(user.time_zone))
