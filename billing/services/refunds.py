"""
Money back to the card it came from: what is unspent of a paid top-up, with its VAT.

The refund leaves the wallet in the transaction that writes its row; only then is the
provider asked, under the row's key. If the provider refuses, the money comes back.
Refunds that staff make at the provider's are found by its running total per charge.
"""

import uuid
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing import gateways, tax
from billing.gateway import GatewayError, OutcomeUnknown, RefundOrder
from billing.ledger import Entry, KeyReused, open_account, post, retry_conflicts
from billing.models import Account, Refund, TopUp, Transfer, Wallet
from billing.services.payments import NeedsPerson, TooEarly
from billing.services.wallets import (
    InsufficientFunds,
    WalletFrozen,
    lock_wallet,
    require_free,
)
from money import from_minor, round_half_up

Kind = Transfer.Kind
Status = Refund.Status

STATUS_OF_PROVIDER = {
    "succeeded": Status.DONE,
    "failed": Status.FAILED,
    "canceled": Status.FAILED,
}


class RefundRefused(Exception):
    """
    The top-up has less left that can go back to its card.
    """


def refund_payment(*, top_up_id: int, net: Money, key: str, at: datetime) -> Refund:
    """
    Give back `net` of a paid top-up and the VAT on it; the same key does it once.

    :raises RefundRefused: if less of the top-up is left to refund
    :raises billing.services.wallets.InsufficientFunds: if less is unspent
    :raises billing.services.wallets.WalletFrozen: while a dispute stands
    :raises billing.ledger.KeyReused: if the key stands for another refund
    """
    started = _start(top_up_id=top_up_id, net=net, key=key, at=at)
    ask_provider(refund_id=started.pk, at=at)
    return Refund.objects.select_related("top_up").get(pk=started.pk)


def refundable(top_up: TopUp) -> Money:
    """
    Return what of a top-up is paid, unspent and not given back yet, before VAT.
    """
    if top_up.wallet.frozen_at is not None:
        return Money(0, top_up.net.currency)
    return min(top_up.refundable_net, top_up.wallet.available.balance)


def vat_on_refund(top_up: TopUp, net: Money) -> Money:
    """
    Return the VAT that goes back with `net`.
    """
    vat = tax.vat_to_return(
        net=top_up.net.amount,
        vat=top_up.vat.amount,
        returned_net=(top_up.refunded_net + net).amount,
        returned_vat=top_up.refunded_vat.amount,
    )
    return Money(vat, net.currency)


def ask_provider(*, refund_id: int, at: datetime) -> None:
    """
    Ask the provider to pay a started refund out; asking again does not pay twice.
    """
    refund = Refund.objects.select_related("top_up").get(pk=refund_id)
    if refund.status != Status.STARTED:
        return
    order = RefundOrder(
        key=f"refund:{refund.uuid}",
        reference=str(refund.uuid),
        payment_id=refund.top_up.payment_id,
        total=refund.total,
    )
    try:
        answer = gateways.by_name(refund.top_up.provider).refund(order)
    except OutcomeUnknown:
        # It stays STARTED: the janitor asks again.
        return
    except GatewayError as error:
        _settle(refund_id, Status.FAILED, failure=str(error.message), at=at)
        return
    _settle(
        refund_id,
        STATUS_OF_PROVIDER.get(str(answer.body["status"]), Status.PENDING),
        provider_ref=str(answer.body["id"]),
        at=at,
    )


def refund_reported(body: dict[str, Any], *, provider: str, at: datetime) -> None:
    """
    Note what became of a refund of ours.

    :raises TooEarly: if it is made at the provider's, and not booked here yet
    """
    reference = str((body.get("metadata") or {}).get("refund", ""))
    rows = Refund.objects.filter(provider_ref=body["id"])
    if not rows.exists() and _is_uuid(reference):
        rows = Refund.objects.filter(uuid=reference)
    refund = rows.first()
    if refund is None:
        if not reference:
            # Made by staff at the provider's: `charge.refunded` books those.
            return
        raise TooEarly(f"There is no refund {reference} yet.")
    status = STATUS_OF_PROVIDER.get(body["status"], Status.PENDING)
    failure = str(body.get("failure_reason") or "")
    _settle(refund.pk, status, provider_ref=body["id"], failure=failure, at=at)


def charge_refunded(charge: dict[str, Any], *, provider: str, at: datetime) -> None:
    """
    Book what was refunded at the provider's own pages: its total less what is known.

    `amount_refunded` is a running total, so a repeated or late event books nothing.

    :raises TooEarly: if the payment itself has not been reported yet
    :raises NeedsPerson: if the wallet no longer holds the money
    """
    top_up = lock_paid(charge, provider=provider)
    if charge["currency"].upper() != str(top_up.total.currency):
        raise NeedsPerson("The refund is in another currency than the payment.")
    reported = from_minor(charge["amount_refunded"], str(top_up.total.currency))
    known = sum(
        (refund.total for refund in top_up.refunds.exclude(status=Status.FAILED)),
        Money(0, reported.currency),
    )
    if reported <= known:
        return
    net, vat = split_back(top_up, reported - known)
    key = f"{charge['id']}:{charge['amount_refunded']}"
    try:
        refund = _take(top_up, net=net, vat=vat, key=key, at=at)
    except (InsufficientFunds, WalletFrozen) as error:
        raise NeedsPerson(f"Refunded at the provider's, not here: {error}") from None
    Refund.objects.filter(pk=refund.pk).update(status=Status.DONE, closed_at=at)


def split_back(top_up: TopUp, total: Money) -> tuple[Money, Money]:
    """
    Split a total that goes back into net and VAT, in the proportion of the payment.

    Worked out on everything that has gone back, so that the last part empties both.

    :raises NeedsPerson: if more goes back than was paid
    """
    back = top_up.refunded_net + top_up.refunded_vat + total
    if back > top_up.total:
        raise NeedsPerson("More has gone back than was paid.")
    share = back.amount * top_up.net.amount / top_up.total.amount
    net = Money(round_half_up(share), total.currency) - top_up.refunded_net
    # Rounded parts before this one can leave a cent too much or too little.
    net = max(min(net, total), total - (top_up.vat - top_up.refunded_vat))
    return net, total - net


def lock_paid(body: dict[str, Any], *, provider: str) -> TopUp:
    """
    Return the paid top-up that a charge, refund or dispute is about, locked.

    :raises TooEarly: if no payment of ours has this id yet
    """
    payment = body.get("payment_intent") or ""
    charge = body.get("charge") or body["id"]
    rows = TopUp.objects.select_for_update(of=("self",)).select_related("wallet")
    rows = rows.filter(provider=provider, status=TopUp.Status.PAID)
    top_up = (
        rows.filter(payment_id=payment).first()
        if payment
        else rows.filter(charge_id=charge).first()
    )
    if top_up is None:
        raise TooEarly(f"No payment {payment or charge} is known.")
    return top_up


def entries_back(
    top_up: TopUp, wallet: Wallet, *, net: Money, vat: Money, kinds: tuple[Kind, Kind]
) -> list[Entry]:
    """
    Return the transfers that take a part of a payment back to the provider.
    """
    currency = str(net.currency)
    clearing = open_account(Account.Kind.CLEARING, currency, top_up.provider)
    vat_account = open_account(Account.Kind.TAX, currency)
    return [
        Entry(wallet.available, clearing, net, kinds[0], "net"),
        Entry(vat_account, clearing, vat, kinds[1], "vat"),
    ]


def accounts_of(top_up: TopUp) -> list[Account]:
    """
    Return the accounts beside the wallet's that a refund or dispute moves.
    """
    currency = str(top_up.net.currency)
    return [
        open_account(Account.Kind.CLEARING, currency, top_up.provider),
        open_account(Account.Kind.TAX, currency),
    ]


@retry_conflicts
@transaction.atomic
def _start(*, top_up_id: int, net: Money, key: str, at: datetime) -> Refund:
    top_up = TopUp.objects.select_for_update(of=("self",)).get(pk=top_up_id)
    if known := Refund.objects.filter(key=key).first():
        if (known.top_up_id, known.net) != (top_up_id, net):
            raise KeyReused("refund_payment", key)
        return known
    if net.amount <= 0 or net > top_up.refundable_net:
        raise RefundRefused(_("That is more than can go back to the card."))
    return _take(top_up, net=net, vat=vat_on_refund(top_up, net), key=key, at=at)


def _take(top_up: TopUp, *, net: Money, vat: Money, key: str, at: datetime) -> Refund:
    wallet = lock_wallet(top_up.wallet, *accounts_of(top_up))
    require_free(wallet, net)
    refund = Refund.objects.create(
        uuid=uuid.uuid4(),
        top_up=top_up,
        key=key,
        net=net,
        vat=vat,
        total=net + vat,
        created_at=at,
    )
    kinds = (Kind.REFUND, Kind.TAX_REFUND)
    post(
        entries_back(top_up, wallet, net=net, vat=vat, kinds=kinds),
        key=f"refund:{refund.uuid}",
        at=at,
        reference=f"top_up:{top_up.uuid}",
    )
    top_up.refunded_net += net
    top_up.refunded_vat += vat
    top_up.save(update_fields=["refunded_net", "refunded_vat"])
    return refund


@retry_conflicts
@transaction.atomic
def _settle(
    refund_id: int,
    status: Status,
    *,
    at: datetime,
    provider_ref: str = "",
    failure: str = "",
) -> None:
    """
    Move a refund on; a failed one brings the money back, once.
    """
    row = Refund.objects.get(pk=refund_id)
    top_up = TopUp.objects.select_for_update(of=("self",)).get(pk=row.top_up_id)
    refund = Refund.objects.select_for_update().get(pk=refund_id)
    refund.provider_ref = provider_ref or refund.provider_ref
    # A bank can still return a refund that was reported as done.
    if refund.status != Status.FAILED and status != Status.STARTED:
        if status == Status.FAILED:
            _bring_back(refund, top_up, at=at)
            refund.failure = failure[:250]
        if not (refund.status == Status.DONE and status == Status.PENDING):
            refund.status = status
        if refund.status != Status.PENDING:
            refund.closed_at = at
    refund.save(update_fields=["provider_ref", "status", "failure", "closed_at"])


def _bring_back(refund: Refund, top_up: TopUp, *, at: datetime) -> None:
    wallet = lock_wallet(top_up.wallet, *accounts_of(top_up))
    kinds = (Kind.REFUND, Kind.TAX_REFUND)
    back = entries_back(top_up, wallet, net=refund.net, vat=refund.vat, kinds=kinds)
    post(
        [Entry(e.credit, e.debit, e.amount, e.kind, e.leg) for e in back],
        key=f"refund-failed:{refund.uuid}",
        at=at,
        reference=f"top_up:{top_up.uuid}",
    )
    top_up.refunded_net -= refund.net
    top_up.refunded_vat -= refund.vat
    top_up.save(update_fields=["refunded_net", "refunded_vat"])


def _is_uuid(text: str) -> bool:
    try:
        uuid.UUID(text)
    except ValueError:
        return False
    return True
