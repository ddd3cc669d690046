"""
The story of a workspace in the reader's words: what happened, and what comes next.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from djmoney.money import Money

import formats
from workspaces.models import State, Workspace, WorkspaceEvent
from workspaces.models.events import INTERRUPTIONS, UNSTARTED


@dataclass(frozen=True, kw_only=True)
class Entry:
    """
    One line of the timeline; `is_next` has not happened yet.
    """

    title: str | Promise
    note: str
    at: datetime | None
    is_next: bool = False
    is_bad: bool = False


def timeline(workspace: Workspace, events: Iterable[WorkspaceEvent]) -> list[Entry]:
    """
    Return what happened, oldest first, and what will happen by itself.
    """
    past = [_entry(workspace, event) for event in events]
    return [*past, *_future(workspace)]


def _entry(workspace: Workspace, event: WorkspaceEvent) -> Entry:
    notes = [_fact(workspace, event), event.reason]
    if event.held:
        held = Money(event.held, workspace.currency)
        notes.append(_("%(amount)s held.") % {"amount": money(held)})
    if event.returned:
        back = Money(event.returned, workspace.currency)
        notes.append(
            _("%(amount)s came back to your wallet.") % {"amount": money(back)}
        )
    return Entry(
        title=_title(event),
        note=" ".join(str(note) for note in notes if note),
        at=event.at,
        is_bad=event.state == State.FAILED
        or event.code in (*INTERRUPTIONS, *UNSTARTED),
    )


def _title(event: WorkspaceEvent) -> str | Promise:
    if event.is_interruption:
        return _("Interrupted by the supplier")
    if event.code:
        return event.get_code_display()
    return State(event.state).label


def _fact(workspace: Workspace, event: WorkspaceEvent) -> str:
    if event.is_interruption:
        return _("%(reason)s. The hour that this broke is free.") % {
            "reason": event.get_code_display()
        }
    if event.code in UNSTARTED:
        return (
            _("Nothing was charged. It waits for another offer.")
            if (event.state == State.QUEUED)
            else ""
        )
    if event.quote is not None:
        return _("%(hours)s h at up to %(limit)s, with storage.") % {
            "hours": number(event.quote.hours),
            "limit": rate(event.quote.limit_price),
        }
    if event.code:
        return ""
    return _fact_of_state(workspace, event)


def _fact_of_state(workspace: Workspace, event: WorkspaceEvent) -> str:
    if event.state == State.MATCHED and event.hourly_amount is not None:
        return _("At the ask, %(price)s per GPU-hour.") % {
            "price": rate(Money(event.hourly_amount, workspace.currency))
        }
    if event.state == State.RUNNING:
        return _("Ready, the clock starts. Waiting and set-up were free.")
    if event.state == State.STOPPED:
        return _("The GPU was given back; the data are kept.")
    return ""


def _future(workspace: Workspace) -> Iterator[Entry]:
    if workspace.state in {State.FUNDED, State.QUEUED} and workspace.start_deadline:
        yield _next(
            _("Start deadline"),
            _("Then the whole hold comes back."),
            workspace.start_deadline,
        )
    if workspace.state == State.RUNNING:
        yield _next(_("Ends by itself"), _kept(workspace), workspace.ends_at)
    if workspace.is_resuming:
        yield _next(
            _("Goes on"), _("As soon as somebody asks your limit or less."), None
        )
    if workspace.state == State.STOPPED:
        yield _next(
            _("Data are deleted"), _("Copy what you need before."), workspace.kept_until
        )


def _kept(workspace: Workspace) -> str:
    if not workspace.kept_days:
        return _("Nothing is kept.")
    return ngettext(
        "Data are kept for %(days)s day.",
        "Data are kept for %(days)s days.",
        workspace.kept_days,
    ) % {"days": number(workspace.kept_days)}


def _next(title: str, note: str, at: datetime | None) -> Entry:
    return Entry(title=title, note=note, at=at, is_next=True)


def money(amount: Money) -> str:
    return formats.money(amount, formats.language())


def rate(price: Money) -> str:
    return formats.rate(price, formats.language())


def number(value: int) -> str:
    return formats.number(value, formats.language())


def duration(length: timedelta) -> str:
    return formats.duration(length, formats.language())
