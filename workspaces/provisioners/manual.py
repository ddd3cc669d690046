"""
Machines that people set up: the supplier, or staff, confirm each start by hand.

The confirmation itself is `services.start_workspace` or `services.fail_workspace`; here
it is only noticed that none came.
"""

from datetime import datetime, timedelta

from django.conf import settings

from workspaces.models import Workspace
from workspaces.provisioner import Late, Observation, Pending, Progress


def check(workspace: Workspace, *, at: datetime) -> Progress:
    """
    Wait for a person, but not for ever: MANUAL_START_MINUTES.
    """
    patience = timedelta(minutes=settings.MANUAL_START_MINUTES)
    begun_at = workspace.provisioning_at
    return Late() if begun_at and at >= begun_at + patience else Pending()


def observe(workspace: Workspace, *, at: datetime) -> Observation | None:
    """
    Nobody watches these machines but their owners.
    """
    return None
