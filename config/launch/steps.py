"""
What has to be done between the services and the site: tables, texts, files, demo.
"""

import hashlib
import json
import os
import select
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from config import embedded, messages
from config.embedded import CHECKOUT, CannotStart
from config.launch import processes
from config.launch.household import tail
from config.launch.interruption import Interruption
from config.launch.terminal import step


class StepFailed(CannotStart):
    """
    A management command failed; the message holds the end of what it said.
    """


def environment(home: Path, site_url: str) -> dict[str, str]:
    """
    Return the environment of the site's processes: the demo, on this run's services.

    What the shell says about a database or an address is meant for another site.
    """
    return {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "COREHOUR_HOME": str(home),
        "DEMO": "true",
        "DATABASE_URL": embedded.database_url(home),
        "REDIS_URL": embedded.redis_url(home),
        "SITE_URL": site_url,
        "ALLOWED_HOSTS": "localhost,127.0.0.1,[::1]",
        "STATIC_ROOT": str(home / "static"),
    }


class Preparation:
    """
    Runs management commands one after the other, each to its end.

    Their process starts at once, while the services come up. It ends with its standard
    input, so a killed launcher leaves nothing behind.
    """

    def __init__(
        self, home: Path, variables: Mapping[str, str], interruption: Interruption
    ) -> None:
        self.home = home
        self.interruption = interruption
        self.log = home / "log" / "prepare.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "config.launch.commands"],
                cwd=CHECKOUT,
                env=variables,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                start_new_session=True,
            )

    def run(self) -> None:
        """
        Bring tables, texts, static files and demo data up to date.

        :raises StepFailed: if a command fails
        :raises Stopped: if the run should end
        """
        with step("Database tables"):
            self.manage("migrate", "--noinput")
        with step("Texts in other languages"):
            messages.compile_stale(CHECKOUT / "locale")
        self.collect_static()
        with step("Catalog and demo accounts"):
            self.manage("demo")

    def close(self) -> None:
        """
        End the process, in the middle of a command if need be.
        """
        processes.kill_group(self.process.pid)
        self.process.communicate()

    def collect_static(self) -> None:
        stamp = self.home / "static.stamp"
        fingerprint = static_fingerprint()
        if stamp.exists() and stamp.read_text() == fingerprint:
            return
        with step("Static files"):
            self.manage("collectstatic", "--noinput", "--clear")
            stamp.write_text(fingerprint)

    def manage(self, *words: str) -> None:
        """
        Run one management command.

        :raises StepFailed: if it fails
        :raises Stopped: if the run should end
        """
        assert self.process.stdin
        assert self.process.stdout
        with suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(words).encode() + b"\n")
            self.process.stdin.flush()
        while not select.select([self.process.stdout], [], [], 0)[0]:
            self.interruption.pause()
        if not os.read(self.process.stdout.fileno(), 1):
            raise StepFailed(f"`manage.py {words[0]}` failed:\n\n{tail(self.log)}")


def static_fingerprint() -> str:
    """
    Return a hash that changes with our static files and with the packages' versions.
    """
    digest = hashlib.sha256((CHECKOUT / "requirements-local.txt").read_bytes())
    for path in sorted(CHECKOUT.glob("[!.]*/static/**/*")):
        status = path.stat()
        line = f"{path.relative_to(CHECKOUT)} {status.st_size} {status.st_mtime_ns}\n"
        digest.update(line.encode())
    return digest.hexdigest()
