"""
The one clock: views and tasks ask it for the time, everything else is told.

In production it is the system's clock in UTC. The demo can be moved forward, so
that a newcomer can watch hours being billed: the offset, in seconds, stands in the
file that ``settings.DEMO_CLOCK_FILE`` names, survives a restart and never shrinks.
"""

from datetime import datetime, timedelta
from pathlib import Path

from django.conf import settings
from django.utils import timezone


class ClockNotMovable(Exception):
    """
    Only the demo's clock can be moved, and only forward.
    """


def now() -> datetime:
    """
    Return the current time, aware, in UTC.
    """
    return timezone.now() + demo_offset()


def demo_offset() -> timedelta:
    """
    Return how far the demo's clock runs ahead of the system's: zero elsewhere.
    """
    if settings.DEMO_CLOCK_FILE is None:
        return timedelta()
    try:
        return timedelta(seconds=int(Path(settings.DEMO_CLOCK_FILE).read_text()))
    except FileNotFoundError:
        return timedelta()


def move_forward(*, by: timedelta) -> datetime:
    """
    Move the demo's clock forward by a whole number of seconds and return its time.

    :raises ClockNotMovable: outside the demo, or for a step that is not positive
    """
    if settings.DEMO_CLOCK_FILE is None:
        raise ClockNotMovable("Only the demo's clock can be moved.")
    if by < timedelta(seconds=1):
        raise ClockNotMovable("The clock only moves forward, by one second or more.")
    path = Path(settings.DEMO_CLOCK_FILE)
    path.parent.mkdir(parents=True, exist_ok=True)
    seconds = int((demo_offset() + by).total_seconds())
    # A rename is atomic: no process ever reads half a number.
    part = path.with_suffix(".part")
    part.write_text(str(seconds))
    part.replace(path)
    return now()
