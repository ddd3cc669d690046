"""
A whole running site for the tests, started by the launcher that `make run` starts.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from coverage import Coverage

from config.embedded import CHECKOUT
from config.launch import processes
from config.launch.steps import environment

PATIENCE = 120.0  # seconds; a busy machine starts everything slowly


@dataclass(frozen=True)
class Site:
    """
    A site that answers at `url`, its data in `home`, its launcher in `process`.
    """

    home: Path
    url: str
    process: "subprocess.Popen[bytes]"

    @property
    def worker_pid(self) -> int:
        return self.pid("worker")

    @property
    def web_pid(self) -> int:
        return self.pid("web")

    @property
    def beat_pid(self) -> int:
        return self.pid("beat")

    def pid(self, name: str) -> int:
        """
        Return the number of a running process: web, worker, beat, postgres or valkey.

        :raises AssertionError: if it does not run
        """
        facts = processes.noted(self.home / "pid" / f"{name}.json")
        assert facts, f"The {name} does not run."
        return int(facts["pid"])

    def manage(self, *words: str) -> str:
        """
        Run a management command against this site and return what it printed.

        :raises AssertionError: if it fails
        """
        done = subprocess.run(
            [sys.executable, CHECKOUT / "manage.py", *words],
            cwd=CHECKOUT,
            env=environment(self.home, self.url),
            capture_output=True,
            check=False,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def kill_worker(self) -> int:
        """
        Kill the worker with all its processes and return the number of the next one.
        """
        pid = self.worker_pid
        os.killpg(pid, signal.SIGKILL)
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            facts = processes.noted(self.home / "pid" / "worker.json")
            if facts and int(facts["pid"]) != pid:
                return int(facts["pid"])
            time.sleep(0.05)
        raise AssertionError("The launcher did not start another worker.")

    def said(self) -> str:
        """
        Return what the launcher printed so far.
        """
        return (self.home / "launcher.log").read_text()

    def stop(self) -> int:
        """
        Press Ctrl-C and return the launcher's exit status.
        """
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(PATIENCE)


def launcher() -> list[str]:
    """
    Return the command of the launcher, which a measured test run measures too.
    """
    measured = ["coverage", "run", "--parallel-mode", "-m"]
    is_measured = Coverage.current() is not None
    return [sys.executable, "-m", *(measured if is_measured else []), "config.launch"]


@contextmanager
def running_site(home: Path, **variables: str) -> Iterator[Site]:
    """
    Run the site on data in `home`, on any free port unless `variables` name one.
    """
    home.mkdir(parents=True, exist_ok=True)
    with (home / "launcher.log").open("wb") as log:
        process = subprocess.Popen(
            launcher(),
            cwd=CHECKOUT,
            env={**os.environ, "PORT": "0", **variables, "COREHOUR_HOME": str(home)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        yield wait_until_ready(Site(home, "", process))
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(PATIENCE)


def wait_until_ready(site: Site) -> Site:
    deadline = time.monotonic() + PATIENCE
    while site.process.poll() is None and time.monotonic() < deadline:
        facts = processes.noted(site.home / "site.json")
        if facts.get("state") == "ready" and int(facts["pid"]) == site.process.pid:
            return Site(site.home, facts["url"], site.process)
        time.sleep(0.05)
    raise AssertionError(f"The site did not start:\n{site.said()}")
