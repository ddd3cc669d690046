"""
Frozen wallets: who is told, what staff and the customer see, and how it ends.

A dispute that is won lets its wallet go by itself. After a lost one a person decides,
with a reason that is kept: the customer has paid what is missing, or it is written off.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import F
from django.urls import reverse
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing.ledger import Entry, open_account, post, retry_conflicts
from billing.mails import address_of, queue_mail
from billing.models import Account, Dispute, TopUp, Transfer, Wallet, WalletEvent
from billing.services.wallets import (
    NoSuchWallet,
    WalletBalance,
    freeze_wallet,
    lock_wallet,
    unfreeze_wallet,
)


class DisputeOpen(Exception):
    """
    The bank has not decided yet.
    """

    def __init__(self) -> None:
        super().__init__(
            _("A dispute is still open. Wait until the bank has decided it.")
        )


class DebtLeft(Exception):
    """
    The wallet is below zero, and nobody said to write that off.
    """

    def __init__(self) -> None:
        super().__init__(
            _(
                "The wallet is below zero. Write the debt off, or wait until the"
                " customer has topped it up."
            )
        )


@dataclass(frozen=True, kw_only=True)
class FrozenWallet:
    """
    A frozen wallet and the disputes since it was frozen, the newest first.
    """

    available: Money
    disputes: list[Dispute]

    @property
    def debt(self) -> Money:
        """
        How far it is below zero.
        """
        return max(-self.available, self.available * 0)

    @property
    def is_undecided(self) -> bool:
        return any(row.status == Dispute.Status.OPEN for row in self.disputes)


@dataclass(frozen=True, kw_only=True)
class FrozenCase(FrozenWallet):
    """
    The same with whose it is, for staff.
    """

    id: int
    email: str
    currency: str
    frozen_at: datetime


def frozen_cases(**conditions: object) -> list[FrozenCase]:
    """
    Return the frozen wallets, the longest frozen first.
    """
    rows = Wallet.objects.filter(frozen_at__isnull=False, **conditions)
    wallets = list(rows.select_related("user", "available").order_by("frozen_at"))
    disputes = _disputes_since_frozen(pk__in=[wallet.pk for wallet in wallets])
    return [
        FrozenCase(
            id=wallet.pk,
            email=wallet.user.email,
            currency=wallet.currency,
            available=wallet.available.balance,
            frozen_at=wallet.frozen_at,
            disputes=disputes[wallet.pk],
        )
        for wallet in wallets
        if wallet.frozen_at is not None
    ]


def frozen_among(balances: Iterable[WalletBalance]) -> dict[int, FrozenWallet]:
    """
    Return what is frozen of these wallets, by their ids.
    """
    frozen = {row.id: row for row in balances if row.is_frozen}
    disputes = _disputes_since_frozen(pk__in=frozen) if frozen else {}
    return {
        wallet_id: FrozenWallet(
            available=row.available, disputes=disputes.get(wallet_id, [])
        )
        for wallet_id, row in frozen.items()
    }


def recent_wallet_events(*, number: int) -> list[WalletEvent]:
    """
    Return what was frozen and let go last, the newest first.
    """
    rows = WalletEvent.objects.select_related("wallet__user", "actor")
    return list(rows.order_by("-at", "-pk")[:number])


def freeze_for(dispute: Dispute, *, at: datetime) -> None:
    """
    Freeze the wallet that a dispute takes from, and tell the customer.
    """
    wallet = dispute.top_up.wallet
    if freeze_wallet(user_id=wallet.user_id, currency=wallet.currency, at=at):
        _note(wallet, WalletEvent.Kind.FROZEN, reason=dispute.provider_ref, at=at)
    _write("wallet_frozen", dispute.top_up, dispute=dispute)


def let_go_after(dispute: Dispute, *, at: datetime) -> None:
    """
    Let a wallet spend again after a won dispute, unless another stands or was lost
    since it was frozen, or it is below zero.
    """
    wallet = Wallet.objects.select_related("available").get(pk=dispute.top_up.wallet_id)
    others = _disputes_since_frozen(pk=wallet.pk)[wallet.pk]
    stands = any(row.status != Dispute.Status.WON for row in others)
    if wallet.frozen_at is None or stands or wallet.available.balance.amount < 0:
        return
    unfreeze_wallet(user_id=wallet.user_id, currency=wallet.currency)
    _note(wallet, WalletEvent.Kind.LET_GO, reason=dispute.provider_ref, at=at)
    _write("wallet_unfrozen", dispute.top_up, wallet=wallet)


@retry_conflicts
@transaction.atomic
def let_go(
    *, wallet_id: int, actor_id: int, reason: str, writes_off: bool, at: datetime
) -> None:
    """
    Let a frozen wallet spend again because staff say so; one that is free stays so.

    :raises NoSuchWallet: if there is none
    :raises DisputeOpen: if a bank has not decided yet
    :raises DebtLeft: if it is below zero and that is not to be written off
    """
    wallet = Wallet.objects.filter(pk=wallet_id).first()
    if wallet is None:
        raise NoSuchWallet(str(wallet_id))
    losses = open_account(Account.Kind.WRITE_OFFS, wallet.currency)
    wallet = lock_wallet(wallet, losses)
    if wallet.frozen_at is None:
        return
    disputes = _disputes_since_frozen(pk=wallet.pk)[wallet.pk]
    frozen = FrozenWallet(available=wallet.available.balance, disputes=disputes)
    if frozen.is_undecided:
        raise DisputeOpen
    if frozen.debt and not writes_off:
        raise DebtLeft
    kind = Transfer.Kind.WRITE_OFF
    entry = Entry(losses, wallet.available, frozen.debt, kind, "write-off")
    key = f"let-go:{wallet.pk}:{wallet.frozen_at:%Y%m%dT%H%M%S.%f}"
    post([entry], key=key, at=at)
    unfreeze_wallet(user_id=wallet.user_id, currency=wallet.currency)
    _note(wallet, WalletEvent.Kind.LET_GO, reason=reason, at=at, actor_id=actor_id)
    if disputes:
        _write("wallet_unfrozen", disputes[0].top_up, wallet=wallet)


def _disputes_since_frozen(**conditions: object) -> dict[int, list[Dispute]]:
    """
    Return the disputes of each frozen wallet, without those that staff have settled.
    """
    conditions = {
        f"top_up__wallet__{name}": value for name, value in conditions.items()
    }
    rows = Dispute.objects.filter(
        opened_at__gte=F("top_up__wallet__frozen_at"), **conditions
    )
    found: dict[int, list[Dispute]] = defaultdict(list)
    for row in rows.select_related("top_up").order_by("-opened_at", "-pk"):
        found[row.top_up.wallet_id].append(row)
    return found


def _note(
    wallet: Wallet,
    kind: WalletEvent.Kind,
    *,
    reason: str,
    at: datetime,
    actor_id: int | None = None,
) -> None:
    WalletEvent.objects.create(
        wallet=wallet, kind=kind, actor_id=actor_id, reason=reason[:200], at=at
    )


def _write(name: str, top_up: TopUp, **context: Any) -> None:
    queue_mail(
        name,
        to=top_up.email,
        language=top_up.language,
        link=address_of(lambda: reverse("billing:wallet"), language=top_up.language),
        **context,
    )
