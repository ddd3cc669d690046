"""
The one way from one state to another: lock, check, update under guard, write it down.
"""

from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.utils.translation import gettext as _

from workspaces.models import Code, Quote, State, Workspace, WorkspaceEvent
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
    workspace, then its node, last its money. Only the meters of the workspace itself
    may be locked before its node.

    :raises Workspace.DoesNotExist: if there is none
    """
    return (
        Workspace.objects.select_for_update(of=["self"])
        .select_related("quote", "storage_plan", "compute_meter")
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
    code: Code | str = "",
    quote: Quote | None = None,
    held: Decimal = Decimal(0),
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
        code=code,
        actor=actor,
        reason=reason,
        quote=quote,
        offer_id=changes.get("offer_id") or workspace.offer_id,
        hourly_amount=changes.get("hourly_amount") or workspace.hourly_amount,
        held=held,
        returned=returned,
        at=at,
    )
    return Workspace.objects.with_names().get(pk=workspace.pk)


def record_note(
    workspace: Workspace,
    code: Code,
    *,
    at: datetime,
    actor: "User | None",
    quote: Quote | None = None,
    reason: str = "",
    held: Decimal = Decimal(0),
    returned: Decimal = Decimal(0),
    changes: dict[str, Any] | None = None,
) -> Workspace:
    """
    Write what changes within a state, and the event that says who and why.
    """
    if changes:
        Workspace.objects.filter(pk=workspace.pk).update(**changes)
    WorkspaceEvent.objects.create(
        workspace=workspace,
        state=workspace.state,
        code=code,
        actor=actor,
        reason=reason,
        quote=quote,
        held=held,
        returned=returned,
        at=at,
    )
    return Workspace.objects.with_names().get(pk=workspace.pk)
