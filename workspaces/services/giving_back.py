"""
What a workspace no longer needs goes back: its node to the offer, money to the wallet.
"""

from datetime import datetime
from decimal import Decimal

from djmoney.money import Money

from billing import services as billing
from catalog import services as catalog
from workspaces.models import Workspace
from workspaces.states import ON_A_NODE


def free_node(
    workspace: Workspace, *, at: datetime, is_withdrawn: bool = False
) -> None:
    """
    Give its node back to the offer, if it occupies one.

    A node that is withdrawn is not rented out again: the offer has one less.
    """
    if workspace.state not in ON_A_NODE:
        return
    assert workspace.offer_id is not None
    if is_withdrawn:
        catalog.withdraw_node(offer_id=workspace.offer_id)
    else:
        catalog.return_node(offer_id=workspace.offer_id, at=at)


def close_hold(workspace: Workspace, *, at: datetime) -> Decimal:
    """
    Return all that the hold has left to the wallet, which ends it, and how much it was.
    """
    remaining = billing.hold_of(hold_id=workspace.hold_id).remaining
    billing.release_hold(hold_id=workspace.hold_id, key=_key(workspace, at), at=at)
    return remaining.amount


def release_above(workspace: Workspace, *, keep: Money, at: datetime) -> Decimal:
    """
    Return to the wallet what the hold has left above `keep`, and how much that was.

    The hold stays open even with nothing left: what is stopped can go on.

    :raises billing.services.HoldTooSmall: if the hold has less than that left
    """
    spare = billing.hold_of(hold_id=workspace.hold_id).remaining - keep
    if not spare.amount:
        return Decimal(0)
    billing.release_hold(
        hold_id=workspace.hold_id, amount=spare, key=_key(workspace, at), at=at
    )
    return spare.amount


def _key(workspace: Workspace, at: datetime) -> str:
    return f"workspace:{workspace.pk}:release:{workspace.state}:{at.isoformat()}"
