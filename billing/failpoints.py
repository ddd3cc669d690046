"""
Places where a test may make the code fail, sleep or die; elsewhere they do nothing.

``FAILPOINTS="tick.after_postings=kill"`` in the environment arms them for a process.
"""

import os
import signal
from collections.abc import Callable


def kill() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


armed: dict[str, Callable[[], None]] = {
    name: kill
    for name, _, action in (
        entry.partition("=") for entry in os.environ.get("FAILPOINTS", "").split(",")
    )
    if action == "kill"
}


def failpoint(name: str) -> None:
    """
    Do what a test armed under this name.
    """
    if action := armed.get(name):
        action()
