"""
The one way from one state to another: lock, check, update under guard, write it down.
"""

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _

from workspaces.models import State, Workspace, WorkspaceEvent
from workspaces.states import LEGAL_MOVES

if TYPE_CHECKING:
    from marketplace.models import User


class IllegalMove(Exception):
    """
    The workspace is in a state that does not lead where it was sent.
    """

    def __init__(self, workspace: Workspace, to: State) -> None:
        super().__init__(
            _("Workspace %(code)s is “%(state)s” and cannot become “%(to)s” any more.")
            % {
                "code": workspace.code,
                "state": State(workspace.state).label,
                "to": to.label,
            }
        )
        self.state = State(workspace.state)
        self.to = to


def lock_workspace(workspace_id: UUID) -> Workspace:
    """
    Return the workspace, locked until the transaction ends.

    Every move locks in the same order, so that no two wait for each other: first the
    workspace, then its node, last its money.

    :raises Workspace.DoesNotExist: if there is none
    """
    return (
        Workspace.objects.select_for_update(of=["self"])
        .select_related("quote", "storage_plan")
        .get(pk=workspace_id)
    )


def check_move(workspace: Workspace, to: State) -> None:
    """
    Refuse a move that is not in the table of states.

    :raises IllegalMove: then
    """
    if to not in LEGAL_MOVES[State(workspace.state)]:
        raise IllegalMove(workspace, to)


def record_move(
    workspace: Workspace,
    to: State,
    *,
    at: datetime,
    actor: "User | None" = None,
    reason: str = "",
    returned: Decimal = Decimal(0),
    **changes: Any,
) -> Workspace:
    """
    Write the new state, what changes with it, and the event that says who and why.

    :raises IllegalMove: if the table forbids it, or another caller was first
    """
    check_move(workspace, to)
    moved = Workspace.objects.filter(pk=workspace.pk, state=workspace.state).update(
        state=to, **changes
    )
    if moved != 1:
        raise IllegalMove(Workspace.objects.get(pk=workspace.pk), to)
    WorkspaceEvent.objects.create(
        workspace=workspace,
        state=to,
        actor=actor,
        reason=reason,
        returned=returned,
        at=at,
    )
    return Workspace.objects.with_names().get(pk=workspace.pk)
