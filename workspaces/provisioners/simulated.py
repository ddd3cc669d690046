"""
Machines that do not exist: ready after a fixed time, at an address that leads nowhere.
"""

from datetime import datetime, timedelta

from django.conf import settings

from workspaces.models import Workspace
from workspaces.provisioner import Pending, Progress, Ready

PORT = 22022


def check(workspace: Workspace, *, at: datetime) -> Progress:
    """
    Say that it is ready once its set-up took SIMULATED_PROVISIONING_SECONDS.
    """
    takes = timedelta(seconds=settings.SIMULATED_PROVISIONING_SECONDS)
    if workspace.provisioning_at is None or at < workspace.provisioning_at + takes:
        return Pending()
    assert workspace.offer is not None
    # The top-level domain .invalid is reserved: the name can never be somebody's.
    host = f"{workspace.code.lower()}.{workspace.offer.region.slug}.invalid"
    return Ready(address=f"root@{host}:{PORT}")
