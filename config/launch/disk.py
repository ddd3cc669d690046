"""
A full disk shows in many ways; it is said in one.
"""

import errno
import shutil
from pathlib import Path

from config.embedded import CannotStart

LEAST_FREE = 500_000_000  # bytes
DISK_FULL = {errno.ENOSPC, errno.EDQUOT}


class DiskFull(CannotStart):
    """
    There is too little room on the disk.
    """


def require_space(home: Path) -> None:
    """
    Refuse to start on a disk that is nearly full.

    :raises DiskFull: then
    """
    if complaint := shortage(home):
        raise DiskFull(complaint)


def shortage(home: Path) -> str:
    """
    Return what to say about the disk of `home`; nothing if it has room.
    """
    free = shutil.disk_usage(home).free
    if free >= LEAST_FREE:
        return ""
    return (
        f"Only {free // 1_000_000} MB are free on the disk of {home}; Corehour needs "
        f"{LEAST_FREE // 1_000_000} MB. Make room and start again."
    )
