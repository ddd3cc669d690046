"""
What the launcher tells the person who started it.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress


def say(text: str, *, end: str = "\n") -> None:
    # A terminal that went away must not keep the launcher from ending its children.
    with suppress(OSError):
        print(text, end=end, flush=True)


@contextmanager
def step(what: str) -> Iterator[None]:
    """
    Say what is being done while it is done, and how long it took.
    """
    say(f"  {what:<44}", end="")
    started = time.monotonic()
    try:
        yield
    except BaseException:
        say(" not done")
        raise
    say(f"{time.monotonic() - started:6.1f} s")
