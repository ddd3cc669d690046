"""
Where the PostgreSQL and the Valkey of this checkout live; starts nothing.

Both listen on Unix sockets only, so two checkouts on one machine never meet.
"""

import hashlib
import os
import time
from pathlib import Path
from urllib.parse import quote

CHECKOUT = Path(__file__).resolve().parent.parent.parent
POSTGRES_SOCKET = ".s.PGSQL.5432"
# The kernel's limit for the path of a Unix socket, in bytes.
SOCKET_PATH_LIMIT = 107


class CannotStart(Exception):
    """
    A service did not start; the message says why and what to do.
    """


def glance() -> None:
    """
    Let a moment pass between two looks at a service that starts.
    """
    time.sleep(0.02)


def home() -> Path:
    """
    Return the folder of this checkout's data: COREHOUR_HOME, or .local.
    """
    return Path(os.environ.get("COREHOUR_HOME") or CHECKOUT / ".local").resolve()


def mark(folder: Path) -> str:
    """
    Return a short name for `folder` that no other folder and no other user has.
    """
    digest = hashlib.sha256(os.fsencode(folder)).hexdigest()[:16]
    return f"corehour-{os.getuid()}-{digest}"


def socket_folder(place: Path | None = None) -> Path:
    """
    Return the folder of the sockets: in `place`, or in /tmp if that path will not do.

    It may be too long for the kernel; and libpq takes a comma for the end of a name.
    """
    place = place or home()
    natural = place / "run"
    longest = natural / "postgres" / POSTGRES_SOCKET
    if len(os.fsencode(longest)) <= SOCKET_PATH_LIMIT and "," not in str(natural):
        return natural
    return Path("/tmp") / mark(place)  # noqa: S108 - made private before it is used


def database_url(place: Path | None = None) -> str:
    """
    Return the DATABASE_URL of the embedded PostgreSQL.
    """
    folder = socket_folder(place) / "postgres"
    return f"postgresql://corehour@/{quote(str(folder))}/corehour"


def redis_url(place: Path | None = None) -> str:
    """
    Return the REDIS_URL of the embedded Valkey.
    """
    return f"unix://{quote(str(socket_folder(place) / 'valkey.sock'))}"
