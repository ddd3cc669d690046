"""
Private folders: made, never taken over.
"""

import os
from pathlib import Path

from config.embedded import CannotStart


class FolderNotOurs(CannotStart):
    """
    A folder that has to be private belongs to somebody else or is open to others.
    """


def make_private(folder: Path, *, owner: int | None = None) -> Path:
    """
    Make `folder` with mode 0700, or check that it is one already, and return it.

    :raises FolderNotOurs: if it is a link, open to others, or not this user's
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    status = folder.lstat()
    is_private = folder.is_dir() and not folder.is_symlink()
    is_ours = status.st_uid in {os.geteuid(), owner}
    if not (is_private and is_ours and status.st_mode & 0o077 == 0):
        raise FolderNotOurs(
            f"{folder} should be a private folder of this user (mode 0700) and is not. "
            "Look at what it holds, remove it, and start again."
        )
    return folder
