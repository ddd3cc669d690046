"""
What happens by itself: rows whose time has come are found and moved, one by one.
"""

import logging
from collections.abc import Callable, Iterable
from datetime import datetime
from functools import partial
from uuid import UUID

from django.db.models import Q
from django.utils.translation import gettext as _

from billing import services as billing
from workspaces.models import State, Workspace
from workspaces.provisioner import Failed, Late, Ready, provisioner_of
from workspaces.services.failing import fail_workspace, put_back_late_start
from workspaces.services.funding import cancel_workspace, expire_workspace
from workspaces.services.moves import IllegalMove
from workspaces.services.resuming import give_up_resume
from workspaces.services.starting import begin_provisioning, start_workspace
from workspaces.services.stopping import (
    StillPaid,
    delete_data,
    end_workspace,
    stop_workspace,
)
from workspaces.states import ON_A_NODE, STARTING, WAITING

logger = logging.getLogger(__name__)

# What holds of workspaces are for, as billing knows it.
OURS = "workspace:"


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


def stop_disputed(*, at: datetime) -> int:
    """
    Stop or cancel what is paid from a wallet that a card dispute froze.

    What would go on stays stopped. Data that were paid for are kept for their days.
    Returns how many moved.
    """
    disputed = billing.references_to_stop()
    ids = [UUID(name.removeprefix(OURS)) for name in disputed if name.startswith(OURS)]
    going = Workspace.objects.filter(
        Q(state__in=WAITING | ON_A_NODE) | Q(resume_asked_at__isnull=False), pk__in=ids
    )
    return _each(
        going.order_by("funded_at", "pk").values_list("pk", flat=True),
        partial(_stop_disputed, at=at),
    )


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
    progress = provisioner_of(workspace).check(workspace, at=at)
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


def _stop_disputed(workspace_id: UUID, *, at: datetime) -> bool:
    workspace = Workspace.objects.get(pk=workspace_id)
    reason = _("A card payment into the wallet that pays for it is disputed.")
    if workspace.is_resuming:
        give_up_resume(workspace_id=workspace_id, actor=None, at=at, reason=reason)
    elif workspace.can_be_stopped:
        stop_workspace(
            workspace_id=workspace_id,
            actor=None,
            at=at,
            keep_data=workspace.can_keep_data,
            reason=reason,
        )
    else:
        cancel_workspace(workspace_id=workspace_id, actor=None, at=at, reason=reason)
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
