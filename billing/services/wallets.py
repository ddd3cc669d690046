"""
Wallets: open them, read them, freeze them.
"""

from dataclasses import dataclass
from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext as _
from djmoney.money import Money

import formats
from billing.ledger import lock_accounts, open_account, retry_conflicts
from billing.models import Account, Wallet


class InsufficientFunds(Exception):
    """
    What is free in the wallet does not cover the amount asked for.
    """

    def __init__(self, *, needed: Money, free: Money) -> None:
        self.needed = needed
        self.free = free
        self.shortfall = needed - free
        language = formats.language()
        super().__init__(
            _(
                "This needs %(needed)s and %(free)s is free in your wallet."
                " Top up %(shortfall)s or more."
            )
            % {
                "needed": formats.money(needed, language),
                "free": formats.money(free, language),
                "shortfall": formats.money(self.shortfall, language),
            }
        )


class WalletFrozen(Exception):
    """
    A card dispute stands against the wallet, so nothing can be spent from it.
    """

    def __init__(self) -> None:
        super().__init__(
            _(
                "This wallet is frozen because of a disputed card payment."
                " Please write to us."
            )
        )


class NoSuchWallet(Exception):
    """
    The user has no wallet in this currency.
    """

    def __init__(self, currency: str) -> None:
        super().__init__(
            _("You have no wallet in %(currency)s.") % {"currency": currency}
        )


@dataclass(frozen=True)
class WalletBalance:
    """
    What a wallet holds: free to spend, and set aside by holds.
    """

    id: int
    currency: str
    available: Money
    held: Money
    is_frozen: bool


@retry_conflicts
@transaction.atomic
def open_wallet(*, user_id: int, currency: str) -> WalletBalance:
    """
    Open the user's wallet in this currency, or find it open already.

    :raises ValueError: if the site has no wallets in this currency
    """
    if currency not in settings.CURRENCIES:
        raise ValueError(f"There are no wallets in {currency}.")
    party = f"user:{user_id}"
    wallet, _is_new = Wallet.objects.get_or_create(
        user_id=user_id,
        currency=currency,
        defaults={
            "available": open_account(Account.Kind.AVAILABLE, currency, party),
            "held": open_account(Account.Kind.HELD, currency, party),
        },
    )
    return _balance(wallet)


def wallets_of(*, user_id: int) -> list[WalletBalance]:
    """
    Return the user's wallets in the order of ``settings.CURRENCIES``.
    """
    wallets = Wallet.objects.filter(user_id=user_id)
    rows = wallets.select_related("available", "held")
    return sorted(
        (_balance(row) for row in rows),
        key=lambda balance: settings.CURRENCIES.index(balance.currency),
    )


def _balance(wallet: Wallet) -> WalletBalance:
    return WalletBalance(
        id=wallet.pk,
        currency=wallet.currency,
        available=wallet.available.balance,
        held=wallet.held.balance,
        is_frozen=wallet.frozen_at is not None,
    )


def find_wallet(*, user_id: int, currency: str) -> Wallet:
    """
    Return the row of the user's wallet, without its balances: a lock reads those.

    :raises NoSuchWallet: if there is none
    """
    return _wallet_among(Wallet.objects.all(), user_id=user_id, currency=currency)


def read_wallet(*, user_id: int, currency: str) -> Wallet:
    """
    Return the user's wallet with its balances, to show them and not to spend them.

    :raises NoSuchWallet: if there is none
    """
    wallets = Wallet.objects.select_related("available", "held")
    return _wallet_among(wallets, user_id=user_id, currency=currency)


def _wallet_among(wallets: QuerySet[Wallet], *, user_id: int, currency: str) -> Wallet:
    try:
        return wallets.get(user_id=user_id, currency=currency)
    except Wallet.DoesNotExist as error:
        raise NoSuchWallet(currency) from error


def lock_wallet(wallet: Wallet, *others: Account) -> Wallet:
    """
    Lock the wallet's accounts, and others, and return the wallet as it is now.

    Freezing takes the same locks, so `frozen_at` cannot change afterwards either.
    """
    locked = lock_accounts([wallet.available_id, wallet.held_id, *others])
    wallet = Wallet.objects.get(pk=wallet.pk)
    wallet.available = locked[wallet.available_id]
    wallet.held = locked[wallet.held_id]
    return wallet


def require_free(wallet: Wallet, amount: Money) -> None:
    """
    Check, on a locked wallet, that `amount` can be spent from it.

    :raises WalletFrozen: if a dispute stands against it
    :raises InsufficientFunds: if less is free
    """
    if wallet.frozen_at is not None:
        raise WalletFrozen
    if wallet.available.balance < amount:
        raise InsufficientFunds(needed=amount, free=wallet.available.balance)


@retry_conflicts
@transaction.atomic
def freeze_wallet(*, user_id: int, currency: str, at: datetime) -> bool:
    """
    Freeze the wallet, so that a dispute may take more than is left in it.

    Returns whether it was not frozen before. It is frozen since the earliest `at`.

    :raises NoSuchWallet: if there is none
    """
    wallet = lock_wallet(find_wallet(user_id=user_id, currency=currency))
    if wallet.frozen_at is not None:
        # Two disputes can get here in the other order than their clocks were read.
        Wallet.objects.filter(pk=wallet.pk, frozen_at__gt=at).update(frozen_at=at)
        return False
    Account.objects.filter(pk=wallet.available_id).update(may_go_negative=True)
    Wallet.objects.filter(pk=wallet.pk).update(frozen_at=at)
    return True


@retry_conflicts
@transaction.atomic
def unfreeze_wallet(*, user_id: int, currency: str) -> None:
    """
    Let the wallet spend again.

    :raises NoSuchWallet: if there is none
    :raises InsufficientFunds: if it is still below zero
    """
    wallet = lock_wallet(find_wallet(user_id=user_id, currency=currency))
    nothing = Money(0, currency)
    if wallet.available.balance < nothing:
        raise InsufficientFunds(needed=nothing, free=wallet.available.balance)
    Account.objects.filter(pk=wallet.available_id).update(may_go_negative=False)
    Wallet.objects.filter(pk=wallet.pk).update(frozen_at=None)
