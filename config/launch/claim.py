"""
One live run for each folder of data.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from config.embedded import CannotStart
from config.launch import processes


class AlreadyRuns(CannotStart):
    """
    Another run uses the same data.
    """


@contextmanager
def claimed(home: Path) -> Iterator[None]:
    """
    Keep `home` for this process; the kernel lets go of it however the process ends.

    :raises AlreadyRuns: if a live run has it
    """
    home.mkdir(mode=0o700, parents=True, exist_ok=True)
    with (home / "lock").open("a") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRuns(describe(home)) from None
        announce(home, url="", is_ready=False)
        yield


def announce(home: Path, *, url: str, is_ready: bool) -> None:
    """
    Tell other runs, and whoever waits for this one, where it answers or soon will.
    """
    state = "ready" if is_ready else "starting"
    processes.note(home / "site.json", os.getpid(), url=url, state=state)


def describe(home: Path) -> str:
    other = processes.noted(home / "site.json")
    if not other:
        return f"Corehour is just starting from this folder ({home})."
    where = other["url"] or "no address yet"
    return (
        f"Corehour already runs from this folder: {where}, process {other['pid']}. "
        f"Stop it with Ctrl-C in its terminal, or with `kill {other['pid']}`."
    )
