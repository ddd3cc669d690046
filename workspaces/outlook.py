"""
What a running workspace has cost, and what would come back if it stopped now; pure.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from djmoney.money import Money

from catalog import costs
from workspaces.models import Workspace


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """
    The two ways to stop: `kept` is what the days of kept data cost.
    """

    spent: Money
    kept: Money
    back_if_ended: Money
    back_if_kept: Money


def if_stopped(workspace: Workspace, *, held: Money, at: datetime) -> Outlook:
    """
    Return what stopping at `at` would mean; `held` is what was held since the match.
    """
    assert workspace.started_at is not None
    assert workspace.ends_at is not None
    assert workspace.hourly_price is not None
    end = min(at.replace(microsecond=0), workspace.ends_at)
    seconds = max(int((end - workspace.started_at).total_seconds()), 0)
    cost = costs.cost_window(
        hours=Decimal(seconds) / costs.HOUR,
        gpus=workspace.gpus,
        rate=workspace.hourly_price,
        storage_gb=workspace.storage_gb,
        storage_rate=workspace.quote.storage_rate,
        kept_days=workspace.kept_days,
    )
    spent = cost.compute + cost.storage
    return Outlook(
        spent=spent,
        kept=cost.kept_storage,
        back_if_ended=held - spent,
        back_if_kept=held - cost.total,
    )
