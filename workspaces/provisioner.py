"""
The port to the machines: who sets a matched workspace up, and how far that is.

An adapter is asked again and again until it says that the machine is ready or never
will be. It is asked outside of any transaction, and it may be asked twice. While a
workspace runs, the adapter is asked what it knows of the machine; one that knows
nothing answers None.
"""

from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from typing import Protocol, cast

from django.conf import settings

from catalog.models import Listing
from workspaces.models import Workspace


@dataclass(frozen=True)
class Pending:
    """
    The machine is still being set up.
    """


@dataclass(frozen=True)
class Ready:
    """
    The machine answers at `address`, written user@host:port, with this host key.
    """

    address: str
    host_key: str = ""


@dataclass(frozen=True)
class Failed:
    """
    The machine will not come up; the renter is told `reason`.
    """

    reason: str


@dataclass(frozen=True)
class Late:
    """
    Nobody said in time whether it came up: the request waits for another node.
    """


Progress = Pending | Ready | Failed | Late


@dataclass(frozen=True)
class Observation:
    """
    What is known of a machine: since when it is down, or since when nothing runs on it.
    """

    down_since: datetime | None = None
    idle_since: datetime | None = None


class Provisioner(Protocol):
    def check(self, workspace: Workspace, *, at: datetime) -> Progress:
        """
        Set the machine up if that has not begun, and say how far it is.
        """

    def observe(self, workspace: Workspace, *, at: datetime) -> Observation | None:
        """
        Say what is known of a machine that runs.
        """


def provisioner() -> Provisioner:
    """
    Return the adapter that settings.PROVISIONER names.
    """
    return _adapter(settings.PROVISIONER)


def provisioner_of(workspace: Workspace) -> Provisioner:
    """
    Return the adapter that sets up the workspace's machine.

    What a supplier lists at its desk, its people start by hand.
    """
    if Listing.objects.filter(pk=workspace.offer_id).exists():
        return _adapter("manual")
    return provisioner()


def _adapter(name: str) -> Provisioner:
    return cast("Provisioner", import_module(f"workspaces.provisioners.{name}"))
