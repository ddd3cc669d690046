"""
The processes of one run: started in sessions of their own, watched, ended together.
"""

import itertools
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from config.embedded import CannotStart
from config.launch import processes
from config.launch.terminal import say

Process = subprocess.Popen[bytes]
PATIENCE = 30.0  # seconds that a child has to end by itself
LINES_SHOWN = 20
COMEBACKS = 5  # within COMEBACK_WINDOW seconds, or something keeps killing it
COMEBACK_WINDOW = 60.0


class ChildFailed(CannotStart):
    """
    A process of the site ended or refused to work.
    """


@dataclass(frozen=True)
class Kind:
    """
    A process that a run has: how it is asked to end, whether it comes back if killed.

    Its files are called by its name, people are told its title.
    """

    name: str
    title: str
    farewell: signal.Signals = signal.SIGTERM
    comes_back: bool = False


WEB = Kind("web", "web server")
WORKER = Kind("worker", "worker", comes_back=True)
BEAT = Kind("beat", "beat", comes_back=True)
VALKEY = Kind("valkey", "Valkey server")
# SIGINT is PostgreSQL's fast shutdown: it does not wait for clients to leave.
POSTGRES = Kind("postgres", "PostgreSQL server", farewell=signal.SIGINT)
# They end in this order, so that nobody loses a service that it still needs.
LAST_ROUNDS = ((BEAT, WORKER, WEB), (VALKEY,), (POSTGRES,))


@dataclass
class Child:
    kind: Kind
    spawn: Callable[[IO[bytes]], Process]
    process: Process
    comebacks: list[float] = field(default_factory=list)


class Household:
    """
    The children of one launcher; their logs and numbers stand in `home`.
    """

    def __init__(self, home: Path) -> None:
        self.home = home
        self.children: list[Child] = []
        for folder in ("log", "pid"):
            (home / folder).mkdir(exist_ok=True)

    def start(self, kind: Kind, spawn: Callable[[IO[bytes]], Process]) -> Process:
        """
        Start a child that writes into its own log, and note its number down.
        """
        log = self.log(kind)
        if log.exists():
            log.replace(log.with_suffix(".log.1"))
        child = Child(kind, spawn, self._spawn(kind, spawn))
        self.children.append(child)
        return child.process

    @contextmanager
    def explaining(self, kind: Kind) -> Iterator[None]:
        """
        Add the end of a child's log to an error about it.

        :raises ChildFailed: then
        """
        try:
            yield
        except ChildFailed:
            raise  # It shows the log of the child that failed.
        except CannotStart as error:
            raise ChildFailed(f"{error}{self.last_words(kind)}") from error

    def look(self) -> None:
        """
        Bring back killed children.

        :raises ChildFailed: if a child ended for another reason, or again and again
        """
        for child in self.children:
            if child.process.poll() is None:
                continue
            processes.kill_group(child.process.pid)
            if not self._may_come_back(child):
                raise ChildFailed(f"{obituary(child)}{self.last_words(child.kind)}")
            say(f"The {child.kind.title} was killed; starting it again.")
            child.process = self._spawn(child.kind, child.spawn)

    def end(self) -> None:
        """
        End all children and return when none is left.
        """
        for kinds in LAST_ROUNDS:
            leaving = [child for child in self.children if child.kind in kinds]
            for child in leaving:
                child.process.send_signal(child.kind.farewell)
            for child in leaving:
                self._see_off(child)
        self.children = []

    def end_leftovers(self) -> None:
        """
        End what an earlier launcher left behind when it was killed itself.
        """
        for kind in itertools.chain(*LAST_ROUNDS):
            path = self.pid_file(kind)
            if facts := processes.noted(path):
                pid = int(facts["pid"])
                say(f"Ending the {kind.title} of an earlier run (process {pid}).")
                processes.end(pid, how=kind.farewell, patience=PATIENCE)
            path.unlink(missing_ok=True)

    def last_words(self, kind: Kind) -> str:
        """
        Return the end of a child's log, or nothing if there is none.
        """
        log = self.log(kind)
        if not (log.exists() and log.stat().st_size):
            return ""
        return f" The end of {log}:\n\n{tail(log)}"

    def log(self, kind: Kind) -> Path:
        return self.home / "log" / f"{kind.name}.log"

    def pid_file(self, kind: Kind) -> Path:
        return self.home / "pid" / f"{kind.name}.json"

    def _spawn(self, kind: Kind, spawn: Callable[[IO[bytes]], Process]) -> Process:
        with self.log(kind).open("ab") as log:
            process = spawn(log)
        try:
            processes.note(self.pid_file(kind), process.pid)
        except OSError:
            # Nobody would find it again.
            processes.kill_group(process.pid)
            process.wait()
            raise
        return process

    def _see_off(self, child: Child) -> None:
        try:
            child.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            say(f"The {child.kind.title} does not end by itself; killing it.")
        processes.kill_group(child.process.pid)
        child.process.wait()
        self.pid_file(child.kind).unlink(missing_ok=True)

    def _may_come_back(self, child: Child) -> bool:
        now = time.monotonic()
        recent = [at for at in child.comebacks if now - at < COMEBACK_WINDOW]
        child.comebacks = [*recent, now]
        was_killed = child.process.returncode == -signal.SIGKILL
        return child.kind.comes_back and was_killed and len(recent) < COMEBACKS


def obituary(child: Child) -> str:
    code = child.process.returncode
    how = f"by signal {-code}" if code < 0 else f"with status {code}"
    return f"The {child.kind.title} ended {how}."


def tail(log: Path) -> str:
    """
    Return the last lines of a log.
    """
    lines = log.read_text(errors="replace").splitlines()
    return "\n".join(f"    {line}" for line in lines[-LINES_SHOWN:])
