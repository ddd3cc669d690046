"""
What happens by itself: rows whose time has come are found and moved, one by one.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from uuid import UUID

from workspaces.models import State, Workspace
from workspaces.provisioner import Failed, Late, Ready, provisioner
from workspaces.services.failing import fail_workspace, put_back_late_start
from workspaces.services.funding import expire_workspace
from workspaces.services.moves import IllegalMove
from workspaces.services.starting import begin_provisioning, start_workspace
from workspaces.services.stopping import StillPaid, delete_data, end_workspace
from workspaces.states import STARTING

logger = logging.getLogger(__name__)


def provision_due(*, at: datetime) -> int:
    """
    Set up what is matched, hand over what is ready, and return how many moved.
    """
    starting = Workspace.objects.filter(state__in=STARTING).order_by("funded_at", "pk")
    return _each(
        starting.values_list("pk", flat=True), partial(_provision_workspace, at=at)
    )


def end_due(*, at: datetime) -> int:
    """
    Stop, delete or expire what is over at `at`, and return how many those were.

    Whatever is found late is ended at the moment when it was due.
    """
    over = Workspace.objects.over_due(at).order_by("funded_at", "pk")
    return _each(over.values_list("pk", flat=True), partial(_end_workspace, at=at))


def _each(ids: Iterable[UUID], act: Callable[[UUID], bool]) -> int:
    moved = 0
    for workspace_id in ids:
        try:
            moved += act(workspace_id)
        except (IllegalMove, StillPaid):
            # Another worker, or the renter, was first: nothing is left to do.
            continue
        except Exception:
            # One broken workspace must not let all others run on.
            logger.exception(
                "Could not move a workspace on", extra={"workspace_id": workspace_id}
            )
    return moved


def _provision_workspace(workspace_id: UUID, *, at: datetime) -> bool:
    workspace = Workspace.objects.with_names().get(pk=workspace_id)
    if workspace.state == State.MATCHED:
        workspace = begin_provisioning(workspace_id=workspace_id, at=at)
    progress = provisioner().check(workspace, at=at)
    if isinstance(progress, Ready):
        start_workspace(
            workspace_id=workspace_id,
            address=progress.address,
            host_key=progress.host_key,
            at=at,
        )
    elif isinstance(progress, Failed):
        fail_workspace(workspace_id=workspace_id, reason=progress.reason, at=at)
    elif isinstance(progress, Late):
        put_back_late_start(workspace_id=workspace_id, at=at)
    else:
        return False
    return True


def _end_workspace(workspace_id: UUID, *, at: datetime) -> bool:
    workspace = Workspace.objects.get(pk=workspace_id)
    if workspace.state == State.RUNNING:
        end_workspace(workspace_id=workspace_id, at=at)
    elif workspace.state == State.STOPPED:
        delete_data(workspace_id=workspace_id, actor=None, at=at)
    else:
        expire_workspace(workspace_id=workspace_id, at=at)
    return True
