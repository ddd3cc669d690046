"""
From a funded request to a machine that is ready: one transaction for each move.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing import services as billing
from workspaces.models import Metered, State, Workspace, WorkspaceEvent
from workspaces.services.giving_back import release_above
from workspaces.services.holding import cost_at, cost_of_keeping, kept_time
from workspaces.services.metering import switch_meters
from workspaces.services.moves import (
    IllegalMove,
    check_move,
    lock_workspace,
    record_move,
)

if TYPE_CHECKING:
    from marketplace.models import User


class PriceOverLimit(Exception):
    """
    A node was offered at a price above what the renter agreed to pay.
    """

    def __init__(self, workspace: Workspace) -> None:
        super().__init__(
            _("Workspace %(code)s does not pay more than its price limit.")
            % {"code": workspace.code}
        )


@billing.retry_conflicts
@transaction.atomic
def queue_funded(*, at: datetime) -> int:
    """
    Put every funded request into the order book and return how many those were.
    """
    funded = Workspace.objects.filter(state=State.FUNDED).order_by("pk")
    ids = list(funded.select_for_update().values_list("pk", flat=True))
    Workspace.objects.filter(pk__in=ids).update(state=State.QUEUED)
    WorkspaceEvent.objects.bulk_create(
        [WorkspaceEvent(workspace_id=pk, state=State.QUEUED, at=at) for pk in ids],
        batch_size=1000,
    )
    return len(ids)


@billing.retry_conflicts
@transaction.atomic
def match_workspace(
    *, workspace_id: UUID, offer_id: int, hourly_price: Money, at: datetime
) -> Workspace:
    """
    Fix the node and the price; what the hold has too much comes back at once.

    The caller has taken the node from the offer in the same transaction. A price in
    another currency counts at the rate that was frozen in the quote.

    :raises IllegalMove: if the request does not wait in the order book
    :raises PriceOverLimit: if the price is above the limit, or in a currency without
        a frozen rate
    """
    workspace = lock_workspace(workspace_id)
    _check_in_book(workspace)
    price = workspace.quote.in_wallet_currency(hourly_price)
    if price is None or price > workspace.limit_price:
        raise PriceOverLimit(workspace)
    keep = cost_at(workspace, price)
    if workspace.is_resuming:
        # Should the start fail, the data are kept for the days that were paid for.
        keep = max(keep, cost_of_keeping(workspace, _days_left(workspace, at)))
    meters = switch_meters(workspace, State.MATCHED, at=at)
    returned = release_above(workspace, keep=keep, at=at)
    return record_move(
        workspace,
        State.MATCHED,
        at=at,
        returned=returned,
        offer_id=offer_id,
        hourly_amount=price.amount,
        **meters,
    )


def _check_in_book(workspace: Workspace) -> None:
    check_move(workspace, State.MATCHED)
    if workspace.state == State.STOPPED and not workspace.is_resuming:
        raise IllegalMove(workspace, State.MATCHED)


def _days_left(workspace: Workspace, at: datetime) -> timedelta:
    assert workspace.kept_until is not None
    return max(workspace.kept_until - at, timedelta())


@billing.retry_conflicts
@transaction.atomic
def begin_provisioning(*, workspace_id: UUID, at: datetime) -> Workspace:
    """
    Note that the machine is being set up; that time is free.

    :raises IllegalMove: if the workspace is not matched
    """
    workspace = lock_workspace(workspace_id)
    return record_move(workspace, State.PROVISIONING, at=at, provisioning_at=at)


@billing.retry_conflicts
@transaction.atomic
def start_workspace(
    *,
    workspace_id: UUID,
    address: str,
    at: datetime,
    host_key: str = "",
    actor: "User | None" = None,
) -> Workspace:
    """
    Hand the ready machine to the renter: from now on it is paid for.

    `address` is written user@host:port, `host_key` as in a known_hosts file, without
    the host. The clock counts whole seconds.

    :raises IllegalMove: if the workspace is not being set up
    """
    workspace = lock_workspace(workspace_id)
    check_move(workspace, State.RUNNING)
    assert workspace.hourly_price is not None
    started_at = at.replace(microsecond=0)
    keep = cost_at(workspace, workspace.hourly_price)
    returned = release_above(workspace, keep=keep, at=at)
    return record_move(
        workspace,
        State.RUNNING,
        at=started_at,
        actor=actor,
        returned=returned,
        address=address,
        host_key=host_key,
        started_at=workspace.started_at or started_at,
        stopped_at=None,
        kept_until=None,
        resume_asked_at=None,
        data_offer_id=workspace.offer_id,
        avoided_offers=[],
        seconds_left=0,
        **_start_meters(workspace, at=started_at),
    )


def _start_meters(workspace: Workspace, *, at: datetime) -> dict[str, Any]:
    ends_at = at + timedelta(seconds=workspace.seconds_left)
    ends = {
        Metered.COMPUTE: ends_at,
        Metered.STORAGE: ends_at + kept_time(workspace),
    }
    return switch_meters(workspace, State.RUNNING, at=at, ends=ends)
