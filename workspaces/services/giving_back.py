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


def free_node(workspace: Workspace, *, at: datetime) -> None:
    """
    Give its node back to the offer, if it occupies one.
    """
    if workspace.state in ON_A_NODE:
        assert workspace.offer_id is not None
        catalog.return_node(offer_id=workspace.offer_id, at=at)


def close_hold(workspace: Workspace, *, at: datetime) -> Decimal:
    """
    Return all that the hold has left to the wallet, and how much that was.
    """
    return release_above(workspace, keep=Money(0, workspace.currency), at=at)


def release_above(workspace: Workspace, *, keep: Money, at: datetime) -> Decimal:
    """
    Return to the wallet what the hold has left above `keep`, and how much that was.

    With nothing to keep, the hold is closed.

    :raises billing.services.HoldTooSmall: if the hold has less than that left
    """
    remaining = billing.hold_of(hold_id=workspace.hold_id).remaining
    spare = remaining - keep
    if keep.amount and not spare.amount:
        return Decimal(0)
    billing.release_hold(
        hold_id=workspace.hold_id,
        amount=spare if keep.amount else None,
        key=f"workspace:{workspace.pk}:release:{workspace.state}:{at.isoformat()}",
        at=at,
    )
    return spare.amount
