"""
The port to the machines: who sets a matched workspace up, and how far that is.

An adapter is asked again and again until it says that the machine is ready or never
will be. It is asked outside of any transaction, and it may be asked twice.
"""

from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Protocol, cast

from django.conf import settings

from workspaces.models import Workspace


@dataclass(frozen=True)
class Pending:
    """
    The machine is still being set up.
    """


@dataclass(frozen=True)
class Ready:
    """
    The machine answers at `address`, written user@host:port.
    """

    address: str


@dataclass(frozen=True)
class Failed:
    """
    The machine will not come up; the renter is told `reason`.
    """

    reason: str


Progress = Pending | Ready | Failed


class Provisioner(Protocol):
    def check(self, workspace: Workspace, *, at: datetime) -> Progress:
        """
        Set the machine up if that has not begun, and say how far it is.
        """


def provisioner() -> Provisioner:
    """
    Return the adapter that settings.PROVISIONER names.
    """
    module = import_module(f"workspaces.provisioners.{settings.PROVISIONER}")
    return cast("Provisioner", module)
