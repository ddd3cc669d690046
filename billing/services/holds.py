"""
Holds: set money aside, take from it, give it back.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from django.db import transaction
from django.db.models import F
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing import metering
from billing.ledger import (
    Entry,
    claim_key,
    open_account,
    post,
    retry_conflicts,
    whole_cents,
)
from billing.models import Account, Hold, Meter, Transfer, Wallet
from billing.services.wallets import find_wallet, lock_wallet, require_free
from money import fee_of

Kind = Transfer.Kind


class HoldEnded(Exception):
    """
    The hold was captured, released or expired before.
    """

    def __init__(self) -> None:
        super().__init__(
            _("The money held for this was given back. Please fund it again.")
        )


class HoldTooSmall(Exception):
    """
    More is asked of a hold than is free in it.
    """

    def __init__(self, *, needed: Money, free: Money) -> None:
        self.needed = needed
        self.free = free
        super().__init__(_("The money held for this does not cover it."))


class HoldInUse(Exception):
    """
    A meter still runs against the hold.
    """

    def __init__(self) -> None:
        super().__init__(_("This still runs. Stop it first."))


class ReferenceTaken(Exception):
    """
    Another hold was placed for this reference.
    """

    def __init__(self) -> None:
        super().__init__(_("Money is already held for this."))


@dataclass(frozen=True)
class HoldInfo:
    """
    One hold as it stands: amount = captured + released + remaining.
    """

    id: int
    reference: str
    status: str
    amount: Money
    captured: Money
    released: Money
    remaining: Money
    placed_at: datetime
    expires_at: datetime | None
    ended_at: datetime | None
    is_extended_automatically: bool


@retry_conflicts
@transaction.atomic
def place_hold(
    *,
    user_id: int,
    amount: Money,
    reference: str,
    key: str,
    at: datetime,
    expires_at: datetime | None = None,
) -> HoldInfo:
    """
    Set `amount` aside in the user's wallet of its currency and return the hold.

    A hold that no meter was started for is given back at `expires_at`.

    :raises InsufficientFunds: if less is free in the wallet
    :raises WalletFrozen: if a dispute stands against the wallet
    :raises NoSuchWallet: if the user has none in this currency
    :raises ReferenceTaken: if another key placed a hold for `reference`
    :raises KeyReused: if `key` placed another hold
    """
    content = {"user": user_id, "amount": amount, "reference": reference}
    claim = claim_key(verb="place_hold", key=key, content=content)
    if not claim.is_new:
        return hold_of(hold_id=claim.result)
    wallet = _lock_wallet_with(amount, user_id=user_id)
    if Hold.objects.filter(reference=reference).exists():
        raise ReferenceTaken
    hold = Hold.objects.create(
        wallet=wallet,
        reference=reference,
        amount=amount,
        captured=amount * 0,
        released=amount * 0,
        placed_at=at,
        expires_at=expires_at,
    )
    entry = Entry(wallet.available, wallet.held, amount, Kind.HOLD, "hold")
    post([entry], key=f"place_hold:{key}", at=at, reference=reference)
    claim.settle(hold.pk)
    return info_of(hold)


def _lock_wallet_with(amount: Money, *, user_id: int) -> Wallet:
    wallet = find_wallet(user_id=user_id, currency=str(amount.currency))
    wallet = lock_wallet(wallet)
    require_free(wallet, _positive(amount))
    return wallet


@retry_conflicts
@transaction.atomic
def extend_hold(*, hold_id: int, amount: Money, key: str, at: datetime) -> HoldInfo:
    """
    Set `amount` aside on top of what an open hold has.

    :raises InsufficientFunds: if less is free in the wallet
    :raises WalletFrozen: if a dispute stands against the wallet
    :raises HoldEnded: if the hold has ended
    :raises KeyReused: if `key` extended another hold or by another amount
    """
    content = {"hold": hold_id, "amount": amount}
    claim = claim_key(verb="extend_hold", key=key, content=content)
    if not claim.is_new:
        return hold_of(hold_id=hold_id)
    hold = lock_open_hold(hold_id)
    wallet = lock_wallet(hold.wallet)
    require_free(wallet, _positive(amount))
    entry = Entry(wallet.available, wallet.held, amount, Kind.HOLD, "hold")
    post([entry], key=f"extend_hold:{key}", at=at, reference=hold.reference)
    Hold.objects.filter(pk=hold.pk).update(amount=F("amount") + amount.amount)
    return hold_of(hold_id=hold_id)


@retry_conflicts
@transaction.atomic
def release_hold(
    *, hold_id: int, at: datetime, key: str, amount: Money | None = None
) -> HoldInfo:
    """
    Give `amount` of the hold back to the wallet, or all that remains, which ends it.

    Ending a hold that has ended changes nothing.

    :raises HoldInUse: if a running meter needs what should be given back
    :raises HoldTooSmall: if `amount` is more than remains
    :raises HoldEnded: if `amount` of an ended hold is asked for
    :raises KeyReused: if `key` released something else
    """
    content = {"hold": hold_id, "amount": amount}
    claim = claim_key(verb="release_hold", key=key, content=content)
    if not claim.is_new:
        return hold_of(hold_id=hold_id)
    hold = lock_hold(hold_id)
    if amount is None:
        if hold.status == Hold.Status.OPEN:
            _end(hold, at=at, key=f"release_hold:{key}")
    else:
        _require_open(hold)
        _require_uncommitted(hold, _positive(amount))
        _give_back(hold, amount, at=at, key=f"release_hold:{key}")
    return hold_of(hold_id=hold_id)


@retry_conflicts
@transaction.atomic
def capture_hold(
    *,
    hold_id: int,
    amount: Money,
    payee: str,
    fee_rate: Decimal,
    key: str,
    at: datetime,
) -> HoldInfo:
    """
    Pay `amount` of the hold, once: the fee to the house, the rest to `payee`.

    The fee is `fee_rate` of the amount, rounded half up; the payee gets what is left.

    :raises HoldEnded: if the hold has ended
    :raises HoldTooSmall: if more is asked than remains
    :raises HoldInUse: if a running meter needs part of it
    :raises KeyReused: if `key` captured something else
    """
    content = {"hold": hold_id, "amount": amount, "payee": payee, "fee": fee_rate}
    claim = claim_key(verb="capture_hold", key=key, content=content)
    if not claim.is_new:
        return hold_of(hold_id=hold_id)
    hold = lock_open_hold(hold_id)
    _require_uncommitted(hold, _positive(amount))
    currency = str(amount.currency)
    supplier = open_account(Account.Kind.PAYABLE, currency, payee)
    house = open_account(Account.Kind.FEES, currency)
    wallet = lock_wallet(hold.wallet, supplier, house)
    fee, rest = fee_of(amount.amount, fee_rate)
    entries = [
        Entry(wallet.held, supplier, Money(rest, currency), Kind.CAPTURE, "s"),
        Entry(wallet.held, house, Money(fee, currency), Kind.CAPTURE_FEE, "f"),
    ]
    post(entries, key=f"capture_hold:{key}", at=at, reference=hold.reference)
    Hold.objects.filter(pk=hold.pk).update(captured=F("captured") + amount.amount)
    return hold_of(hold_id=hold_id)


@retry_conflicts
def expire_holds(*, at: datetime) -> int:
    """
    Give back every hold that no meter was started for in time; return how many.
    """
    due = Hold.objects.filter(status=Hold.Status.OPEN, expires_at__lte=at, meters=None)
    return sum(
        _expire(pk, at=at) for pk in due.order_by("pk").values_list("pk", flat=True)
    )


@transaction.atomic
def _expire(hold_id: int, *, at: datetime) -> bool:
    hold = lock_hold(hold_id)
    # A start, a release or another worker may have been faster.
    if hold.status != Hold.Status.OPEN or hold.meters.exists():
        return False
    _end(hold, at=at, key=f"expire_hold:{hold.pk}", status=Hold.Status.EXPIRED)
    return True


def hold_of(*, hold_id: int) -> HoldInfo:
    """
    Return the hold as it stands.
    """
    return info_of(Hold.objects.get(pk=hold_id))


def info_of(hold: Hold) -> HoldInfo:
    return HoldInfo(
        id=hold.pk,
        reference=hold.reference,
        status=hold.status,
        amount=hold.amount,
        captured=hold.captured,
        released=hold.released,
        remaining=remaining_of(hold),
        placed_at=hold.placed_at,
        expires_at=hold.expires_at,
        ended_at=hold.ended_at,
        is_extended_automatically=hold.is_extended_automatically,
    )


def remaining_of(hold: Hold) -> Money:
    remaining: Money = hold.amount - hold.captured - hold.released
    return remaining


def lock_hold(hold_id: int) -> Hold:
    """
    Return the hold, locked with its running meters until the transaction ends.

    The meters are locked even where they do not matter yet: a transaction that stops
    one of them later would otherwise ask for it after the hold, against the order.
    """
    running = Meter.objects.filter(hold_id=hold_id, stopped_at=None).order_by("pk")
    list(running.select_for_update(no_key=True).values_list("pk", flat=True))
    return Hold.objects.select_for_update(no_key=True).get(pk=hold_id)


def lock_open_hold(hold_id: int) -> Hold:
    """
    Return the hold, locked until the transaction ends.

    :raises HoldEnded: if it has ended
    """
    hold = lock_hold(hold_id)
    _require_open(hold)
    return hold


def committed_of(hold: Hold) -> Money:
    """
    Return what the running meters of a locked hold may still cost.
    """
    running = hold.meters.filter(stopped_at=None)
    return sum((metering.left_to_bill(meter) for meter in running), hold.amount * 0)


def _require_open(hold: Hold) -> None:
    if hold.status != Hold.Status.OPEN:
        raise HoldEnded


def _require_uncommitted(hold: Hold, amount: Money) -> None:
    remaining = remaining_of(hold)
    if amount > remaining:
        raise HoldTooSmall(needed=amount, free=remaining)
    if amount > remaining - committed_of(hold):
        raise HoldInUse


def _positive(amount: Money) -> Money:
    if whole_cents(amount).amount == 0:
        raise ValueError("The amount is zero.")
    return amount


def _end(
    hold: Hold, *, at: datetime, key: str, status: Hold.Status | None = None
) -> None:
    if hold.meters.filter(stopped_at=None).exists():
        raise HoldInUse
    _give_back(hold, remaining_of(hold), at=at, key=key)
    was_used = hold.captured.amount > 0
    ended = Hold.Status.CAPTURED if was_used else Hold.Status.RELEASED
    Hold.objects.filter(pk=hold.pk).update(status=status or ended, ended_at=at)


def _give_back(hold: Hold, amount: Money, *, at: datetime, key: str) -> None:
    wallet = lock_wallet(hold.wallet)
    entry = Entry(wallet.held, wallet.available, amount, Kind.RELEASE, "release")
    post([entry], key=key, at=at, reference=hold.reference)
    Hold.objects.filter(pk=hold.pk).update(released=F("released") + amount.amount)
