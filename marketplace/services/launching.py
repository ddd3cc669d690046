"""
When the market opens, and when it is closed for a while.
"""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext as _

from marketplace.models import Launch, LaunchEvent, Match, User
from marketplace.services.matching import match_market


class NotOpen(Exception):
    """
    The market has not been opened, so it cannot be paused.
    """


class ReasonMissing(Exception):
    """
    A pause needs a reason, because everybody who waits is shown it.
    """


@transaction.atomic
def plan_opening(*, actor: User, opens_at: datetime | None, at: datetime) -> Launch:
    """
    Say when the market will open by itself, or take the date back.
    """
    launch = Launch.objects.locked()
    if launch.opens_at != opens_at:
        launch.opens_at = opens_at
        launch.save(update_fields=["opens_at"])
        _record(LaunchEvent.Kind.PLANNED, actor=actor, at=at, opens_at=opens_at)
    return launch


@transaction.atomic
def open_when_due(*, at: datetime) -> bool:
    """
    Open the market if its planned time has come, and return whether that was now.

    It happens once, however late: what was opened before, and perhaps paused since,
    is left to staff.
    """
    launch = Launch.objects.locked()
    if launch.opened_at or launch.opens_at is None or launch.opens_at > at:
        return False
    open_doors(actor=None, at=at)
    return True


@transaction.atomic
def open_doors(*, actor: User | None, at: datetime) -> Launch:
    """
    Open the market, or go on after a pause; what is open stays as it is.
    """
    launch = Launch.objects.locked()
    if launch.is_open:
        return launch
    kind = LaunchEvent.Kind.RESUMED if launch.opened_at else LaunchEvent.Kind.OPENED
    launch.opened_at = launch.opened_at or at
    launch.paused_at, launch.pause_reason = None, ""
    launch.save(update_fields=["opened_at", "paused_at", "pause_reason"])
    _record(kind, actor=actor, at=at)
    return launch


def open_market(*, actor: User | None, at: datetime) -> list[Match]:
    """
    Open the market, queue every funded request and match the whole book.

    Called again it opens nothing twice and only matches what still waits.
    """
    open_doors(actor=actor, at=at)
    return match_market(at=at)


@transaction.atomic
def pause_market(*, actor: User, reason: str, at: datetime) -> Launch:
    """
    Match nothing until the market is opened again; what runs goes on running.

    :raises NotOpen: if it has not been opened yet
    :raises ReasonMissing: if no reason is given
    """
    launch = Launch.objects.locked()
    if launch.opened_at is None:
        raise NotOpen(_("The market is not open, so there is nothing to pause."))
    if not reason.strip():
        raise ReasonMissing(_("Write why: everybody who waits is shown it."))
    if launch.paused_at is None:
        launch.paused_at, launch.pause_reason = at, reason.strip()
        launch.save(update_fields=["paused_at", "pause_reason"])
        _record(LaunchEvent.Kind.PAUSED, actor=actor, at=at, reason=reason.strip())
    return launch


def _record(
    kind: LaunchEvent.Kind,
    *,
    actor: User | None,
    at: datetime,
    opens_at: datetime | None = None,
    reason: str = "",
) -> None:
    LaunchEvent.objects.create(
        kind=kind, actor=actor, at=at, opens_at=opens_at, reason=reason
    )
