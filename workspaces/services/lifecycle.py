"""
From a funded request to the last byte deleted: one transaction for each move.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing import services as billing
from catalog import costs
from workspaces.models import Metered, State, Workspace, WorkspaceEvent
from workspaces.services.giving_back import close_hold, free_node, release_above
from workspaces.services.metering import storage_left, switch_meters
from workspaces.services.moves import check_move, lock_workspace, record_move

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


class NothingToKeep(Exception):
    """
    The data should be kept, but no days were paid for.
    """

    def __init__(self) -> None:
        super().__init__(
            _(
                "No storage after the end was paid for, so the data cannot be kept."
                " Copy what you need, then end the workspace."
            )
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
    check_move(workspace, State.MATCHED)
    price = workspace.quote.in_wallet_currency(hourly_price)
    if price is None or price > workspace.limit_price:
        raise PriceOverLimit(workspace)
    at_most = costs.cost_window(
        hours=workspace.hours,
        gpus=workspace.gpus,
        rate=price,
        storage_gb=workspace.storage_gb,
        storage_rate=workspace.quote.storage_rate,
        kept_days=workspace.kept_days,
    )
    returned = release_above(workspace, keep=at_most.total, at=at)
    return record_move(
        workspace,
        State.MATCHED,
        at=at,
        returned=returned,
        offer_id=offer_id,
        hourly_amount=price.amount,
    )


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
def start_workspace(*, workspace_id: UUID, address: str, at: datetime) -> Workspace:
    """
    Hand the ready machine to the renter: from now on it is paid for.

    `address` is written user@host:port. The clock counts whole seconds.

    :raises IllegalMove: if the workspace is not being set up
    """
    workspace = lock_workspace(workspace_id)
    check_move(workspace, State.RUNNING)
    started_at = at.replace(microsecond=0)
    ends_at = started_at + timedelta(hours=workspace.hours)
    kept_until = ends_at + timedelta(days=workspace.kept_days)
    meters = switch_meters(
        workspace,
        State.RUNNING,
        at=started_at,
        ends={Metered.COMPUTE: ends_at, Metered.STORAGE: kept_until},
    )
    return record_move(
        workspace,
        State.RUNNING,
        at=started_at,
        address=address,
        started_at=started_at,
        ends_at=ends_at,
        **meters,
    )


@billing.retry_conflicts
@transaction.atomic
def stop_workspace(
    *,
    workspace_id: UUID,
    actor: "User | None",
    at: datetime,
    keep_data: bool,
    reason: str = "",
) -> Workspace:
    """
    Give the GPU back, bill to the second, and return what is no longer needed.

    With `keep_data` the storage is kept for the days that were paid for; without, the
    workspace has ended and the whole rest of the hold comes back. A workspace that
    should have stopped before `at` stopped then.

    :raises IllegalMove: if it does not run
    :raises NothingToKeep: if the data are to be kept but no days were paid for
    """
    workspace = lock_workspace(workspace_id)
    to = State.STOPPED if keep_data else State.ENDED
    check_move(workspace, to)
    if keep_data and not workspace.kept_days:
        raise NothingToKeep
    assert workspace.ends_at is not None
    stopped_at = min(at.replace(microsecond=0), workspace.ends_at)
    kept_until = stopped_at + timedelta(days=workspace.kept_days)
    free_node(workspace, at=at)
    meters = switch_meters(
        workspace, to, at=stopped_at, ends={Metered.STORAGE: kept_until}
    )
    keep = storage_left(workspace) if keep_data else Money(0, workspace.currency)
    returned = release_above(workspace, keep=keep, at=at)
    return record_move(
        workspace,
        to,
        at=stopped_at,
        actor=actor,
        reason=reason,
        returned=returned,
        stopped_at=stopped_at,
        kept_until=kept_until if keep_data else None,
        **meters,
    )


@billing.retry_conflicts
@transaction.atomic
def delete_data(*, workspace_id: UUID, actor: "User | None", at: datetime) -> Workspace:
    """
    Delete the kept data; what was held for days that are not used comes back.

    :raises IllegalMove: if no data are kept
    """
    workspace = lock_workspace(workspace_id)
    check_move(workspace, State.DELETED)
    assert workspace.kept_until is not None
    deleted_at = min(at.replace(microsecond=0), workspace.kept_until)
    meters = switch_meters(workspace, State.DELETED, at=deleted_at)
    returned = close_hold(workspace, at=at)
    return record_move(
        workspace,
        State.DELETED,
        at=deleted_at,
        actor=actor,
        returned=returned,
        **meters,
    )


@billing.retry_conflicts
@transaction.atomic
def fail_workspace(
    *, workspace_id: UUID, reason: str, at: datetime, actor: "User | None" = None
) -> Workspace:
    """
    Give up a start that did not work: it costs nothing, hold and node go back.

    :raises IllegalMove: if the workspace is not being started
    """
    workspace = lock_workspace(workspace_id)
    check_move(workspace, State.FAILED)
    free_node(workspace, at=at)
    returned = close_hold(workspace, at=at)
    return record_move(
        workspace, State.FAILED, at=at, actor=actor, reason=reason, returned=returned
    )
