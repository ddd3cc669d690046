"""
The story of a workspace in the reader's words: what happened, and what comes next.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.functional import Promise
from django.utils.translation import get_language, ngettext
from django.utils.translation import gettext as _
from djmoney.money import Money

import formats
from workspaces.models import State, Workspace, WorkspaceEvent


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
    if event.returned:
        back = Money(event.returned, workspace.currency)
        notes.append(
            _("%(amount)s came back to your wallet.") % {"amount": money(back)}
        )
    return Entry(
        title=State(event.state).label,
        note=" ".join(note for note in notes if note),
        at=event.at,
        is_bad=event.state == State.FAILED,
    )


def _fact(workspace: Workspace, event: WorkspaceEvent) -> str:
    if event.state == State.FUNDED:
        return _("%(amount)s held: %(hours)s h at up to %(limit)s, with storage.") % {
            "amount": money(workspace.quote.hold_amount),
            "hours": number(workspace.hours),
            "limit": rate(workspace.limit_price),
        }
    if event.state == State.MATCHED and workspace.hourly_price is not None:
        return _("At the ask, %(price)s per GPU-hour.") % {
            "price": rate(workspace.hourly_price)
        }
    if event.state == State.RUNNING:
        return _("Ready, the clock starts. %(time)s of set-up were free.") % {
            "time": duration(event.at - (workspace.provisioning_at or event.at))
        }
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
    return formats.money(amount, get_language() or "en")


def rate(price: Money) -> str:
    return formats.rate(price, get_language() or "en")


def number(value: int) -> str:
    return formats.number(value, get_language() or "en")


def duration(length: timedelta) -> str:
    return formats.duration(length, get_language() or "en")
