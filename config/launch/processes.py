"""
Numbers of processes, noted in files, that are never mistaken for somebody else's.
"""

import json
import os
import signal
import time
from contextlib import suppress
from pathlib import Path

KILLED = 5.0  # seconds; more than the kernel needs to clear a killed process away


def birth(pid: int) -> str | None:
    """
    Return when process `pid` started, in the kernel's own count; None if it is gone.
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return None
    # The name stands in brackets and may itself hold spaces and brackets.
    state, *fields = stat.rpartition(")")[2].split()
    if state == "Z":
        return None
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{boot} {fields[18]}"


def note(path: Path, pid: int, **facts: str) -> None:
    """
    Write down that process `pid` is the one that `path` is about.
    """
    part = path.with_suffix(".part")
    part.write_text(json.dumps({"pid": pid, "birth": birth(pid), **facts}))
    part.replace(path)


def noted(path: Path) -> dict[str, str]:
    """
    Return what is written about a process that still runs; nothing if it ended.
    """
    try:
        facts: dict[str, str] = json.loads(path.read_text())
    except (FileNotFoundError, ValueError):
        return {}
    born = birth(int(facts["pid"]))
    return facts if born and born == facts["birth"] else {}


def end(pid: int, *, how: signal.Signals, patience: float) -> None:
    """
    Ask process `pid`, the leader of its group, to end; kill the group if it does not.

    `patience` is in seconds.
    """
    born = birth(pid)
    with suppress(ProcessLookupError):
        os.kill(pid, how)
    wait_for_end(pid, born, patience)
    kill_group(pid)
    wait_for_end(pid, born, KILLED)


def kill_group(pid: int) -> None:
    """
    Kill what is left of the group that process `pid` leads or led.
    """
    with suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)


def wait_for_end(pid: int, born: str | None, patience: float) -> None:
    deadline = time.monotonic() + patience
    while born and birth(pid) == born and time.monotonic() < deadline:
        time.sleep(0.02)
