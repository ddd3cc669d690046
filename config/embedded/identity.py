"""
As whom PostgreSQL runs: it refuses root, and every user that has no name.

Root inside a user namespace keeps the files' real owner, so data and programs may lie
in a folder that only root can enter, and no folder's permissions have to change.
"""

import os
import pwd
import shutil
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from config.embedded import CannotStart


class NoIdentity(CannotStart):
    """
    There is nobody on this machine as whom PostgreSQL could run.
    """


@dataclass(frozen=True)
class Identity:
    """
    The words before PostgreSQL's commands, and the account that root turns into.
    """

    prefix: tuple[str, ...] = ()
    account: pwd.struct_passwd | None = None

    def take(self, folder: Path) -> None:
        """
        Give `folder`, which the caller has just made, to the account.
        """
        if self.account:
            os.chown(folder, self.account.pw_uid, self.account.pw_gid)


def choose() -> Identity:
    """
    Return this user, or this user renamed in a user namespace, or a lesser account.

    :raises NoIdentity: if none of the three is possible
    """
    if os.geteuid() != 0 and has_name(os.geteuid()):
        return Identity()
    account = unprivileged_account()
    unshare = shutil.which("unshare")
    if unshare is None:
        return lesser(account)
    ids = (f"--map-user={account.pw_uid}", f"--map-group={account.pw_gid}")
    prefix = (unshare, "--user", *ids)
    if subprocess.run([*prefix, "true"], capture_output=True, check=False).returncode:
        return lesser(account)
    return Identity(prefix=prefix)


def lesser(account: pwd.struct_passwd) -> Identity:
    """
    Return the identity of `account`, which only root can take on.

    :raises NoIdentity: if this is not root
    """
    if os.geteuid() != 0:
        raise NoIdentity(
            f"User id {os.geteuid()} has no name in /etc/passwd and user namespaces "
            "are off, so PostgreSQL will not start. Run this as a user with a name."
        )
    return Identity(account=account)


@cache
def unprivileged_account() -> pwd.struct_passwd:
    """
    Return an account that every system has: postgres if there is one, or nobody.

    :raises NoIdentity: if there is no account but root's
    """
    accounts = [each for each in pwd.getpwall() if each.pw_uid != 0]
    if not accounts:
        raise NoIdentity("/etc/passwd names nobody but root: PostgreSQL refuses root.")
    order = ("postgres", "nobody")
    named = {each.pw_name: each for each in accounts}
    return next((named[name] for name in order if name in named), accounts[0])


def has_name(uid: int) -> bool:
    try:
        pwd.getpwuid(uid)
    except KeyError:
        return False
    return True
