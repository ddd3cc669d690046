"""
How a person stands: what they have, what runs, what it burns, and what needs them.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing import services as billing
from billing.services import WalletBalance
from marketplace.models import User
from workspaces.models import Quote, State, Workspace, WorkspaceEvent
from workspaces.states import CHARGED, OVER

ENDS_SOON = timedelta(hours=24)
FAILED_LATELY = timedelta(days=7)
SHOWN = 20


@dataclass(frozen=True)
class WalletStanding:
    """
    A wallet and what runs on it; `lasts` is how long its free money would pay that.
    """

    balance: WalletBalance
    burn: Money
    lasts: timedelta | None


class Task(NamedTuple):
    """
    Something that waits for the person, and the page where it is done.
    """

    title: str | Promise
    url: str
    action: str | Promise
    until: datetime | None = None


@dataclass(frozen=True)
class Rental:
    """
    A workspace and the last thing that happened to it.
    """

    workspace: Workspace
    event: WorkspaceEvent | None
    left: timedelta | None


@dataclass(frozen=True)
class Standing:
    wallets: list[WalletStanding]
    rentals: list[Rental]
    tasks: list[Task]
    running: int
    next_end: datetime | None


def standing_of(*, user: User, at: datetime) -> Standing:
    """
    Return all of it, in a number of queries that does not grow.
    """
    open_first = Workspace.objects.owned_by(user).with_names()
    charged = list(open_first.filter(state__in=CHARGED))
    rentals = _rentals(open_first.order_by("-funded_at")[:SHOWN], at)
    balances = billing.wallets_of(user_id=user.pk)
    ends = [workspace.charged_until for workspace in charged]
    return Standing(
        wallets=[_wallet(balance, charged) for balance in _own_first(balances, user)],
        rentals=rentals,
        tasks=[
            *_money_tasks(balances),
            *_quote_tasks(user, at),
            *_rental_tasks(rentals, at),
        ],
        running=sum(workspace.state == State.RUNNING for workspace in charged),
        next_end=min((end for end in ends if end is not None), default=None),
    )


def _own_first(balances: Iterable[WalletBalance], user: User) -> list[WalletBalance]:
    return sorted(balances, key=lambda balance: balance.currency != user.currency)


def _wallet(balance: WalletBalance, charged: Iterable[Workspace]) -> WalletStanding:
    burns = [item.burn for item in charged if item.currency == balance.currency]
    burn = sum(burns, Money(0, balance.currency))
    lasts = None
    if burn.amount:
        hours = balance.available.amount / burn.amount
        lasts = timedelta(seconds=int(max(hours, Decimal(0)) * 3600))
    return WalletStanding(balance=balance, burn=burn, lasts=lasts)


def _rentals(workspaces: Iterable[Workspace], at: datetime) -> list[Rental]:
    rows = list(workspaces)
    events = WorkspaceEvent.objects.filter(workspace__in=rows)
    latest = events.order_by("workspace", "-pk").distinct("workspace")
    by_workspace = {event.workspace_id: event for event in latest}
    return [
        Rental(row, by_workspace.get(row.pk), row.time_left(at))
        for row in sorted(rows, key=lambda row: row.state in OVER)
    ]


def _money_tasks(balances: Sequence[WalletBalance]) -> list[Task]:
    if any(balance.is_frozen for balance in balances):
        title = _("A wallet is frozen because of a disputed card payment.")
        return [Task(title, reverse("billing:wallet"), _("Look at the wallet"))]
    if any(balance.available.amount or balance.held.amount for balance in balances):
        return []
    title = _("Your wallet is empty. A request is funded from it.")
    return [Task(title, reverse("billing:top_up"), _("Top up"))]


def _quote_tasks(user: User, at: datetime) -> list[Task]:
    quotes = Quote.objects.filter(user=user, used_at=None, expires_at__gt=at)
    return [
        Task(
            _("A quote waits to be funded: %(model)s on %(gpu)s.")
            % {"model": quote.base_model, "gpu": quote.gpu},
            quote.get_absolute_url(),
            _("Look at the quote"),
            quote.expires_at,
        )
        for quote in quotes.select_related("base_model", "gpu").order_by("expires_at")
    ]


def _rental_tasks(rentals: Iterable[Rental], at: datetime) -> list[Task]:
    return [task for rental in rentals if (task := _rental_task(rental, at))]


def _rental_task(rental: Rental, at: datetime) -> Task | None:
    workspace = rental.workspace
    url, code = workspace.get_absolute_url(), {"code": workspace.code}
    if workspace.state == State.RUNNING and (rental.left or ENDS_SOON) < ENDS_SOON:
        title = _("Workspace %(code)s ends soon: save what you need.") % code
        return Task(title, url, _("Look at it"), workspace.ends_at)
    if workspace.state == State.STOPPED:
        title = _("The data of workspace %(code)s will be deleted.") % code
        return Task(title, url, _("Look at it"), workspace.kept_until)
    failed_at = rental.event.at if rental.event else None
    if workspace.state == State.FAILED and failed_at and at - failed_at < FAILED_LATELY:
        title = _("Workspace %(code)s could not start; your money is back.") % code
        return Task(title, url, _("See why"))
    return None
