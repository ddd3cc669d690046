"""
What a workspace may still cost, and the money that is set aside for it.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any

from djmoney.money import Money

from billing import services as billing
from catalog import costs
from catalog.costs import DAY, HOUR
from workspaces.models import Workspace

SHORT_OF_MONEY = (billing.InsufficientFunds, billing.WalletFrozen)


def cost_at(workspace: Workspace, price: Money) -> Money:
    """
    Return what the time that it has left costs at `price`, with storage during and
    after it.
    """
    return costs.cost_window(
        hours=Decimal(workspace.seconds_left) / HOUR,
        gpus=workspace.gpus,
        rate=price,
        storage_gb=workspace.storage_gb,
        storage_rate=workspace.quote.storage_rate,
        kept_days=workspace.kept_days,
    ).total


def cost_of_keeping(workspace: Workspace, time: timedelta) -> Money:
    """
    Return what it costs to keep the data for `time`.
    """
    return costs.storage_cost(
        gb=workspace.storage_gb,
        monthly_rate=workspace.quote.storage_rate,
        hours=Decimal(int(time.total_seconds())) / HOUR,
    )


def hold_again(
    workspace: Workspace, *, besides: Money, at: datetime
) -> tuple[Decimal, dict[str, Any]]:
    """
    Set aside again what its price limit needs, so that the limit counts once more.

    At the match the difference to the limit had come back. If the wallet does not
    cover it any more, the price that was agreed then is the new limit. `besides` is
    what the hold is needed for otherwise. Returns how much was set aside, and what
    changes in the workspace.
    """
    remaining = billing.hold_of(hold_id=workspace.hold_id).remaining - besides
    missing = cost_at(workspace, workspace.limit_price) - remaining
    if missing.amount <= 0:
        return Decimal(0), {}
    try:
        billing.extend_hold(
            hold_id=workspace.hold_id,
            amount=missing,
            key=f"workspace:{workspace.pk}:again:{at.isoformat()}",
            at=at,
        )
    except SHORT_OF_MONEY:
        price = workspace.hourly_price
        assert price is not None
        left = _affordable_seconds(workspace, price, remaining)
        return Decimal(0), {"limit_price": price, "seconds_left": left}
    return missing.amount, {}


def _affordable_seconds(workspace: Workspace, price: Money, remaining: Money) -> int:
    """
    Return the time left, shortened by what roundings of the earlier bill took of it.

    Two meters are rounded twice, so that what remains may lack a cent or two.
    """
    short = cost_at(workspace, price) - remaining
    if short.amount <= 0:
        return workspace.seconds_left
    an_hour = price.amount * workspace.gpus
    seconds = int((short.amount + Decimal("0.01")) * HOUR / an_hour) + 1
    return max(workspace.seconds_left - seconds, 1)


def kept_time(workspace: Workspace) -> timedelta:
    """
    Return how long data are kept once it has stopped.
    """
    return timedelta(seconds=workspace.kept_days * DAY)
