"""
Disputes: the customer's bank takes a payment back, spent or not.

The wallet is frozen first, which is what lets it fall below zero; its net, its VAT and
the provider's fee are booked apart. A won dispute brings the money back. A closed
dispute is final, whatever older event comes after it.
"""

from datetime import datetime
from typing import Any

from django.db.models import Q
from djmoney.money import Money

from billing.ledger import Entry, open_account, post
from billing.models import Account, Dispute, Hold, TopUp, Transfer
from billing.services.freezes import freeze_for, let_go_after
from billing.services.payments import NeedsPerson
from billing.services.refunds import accounts_of, entries_back, lock_paid, split_back
from billing.services.wallets import lock_wallet
from money import from_minor

Kind = Transfer.Kind
Status = Dispute.Status

# A bank that only asks takes no money.
ONLY_ASKING = frozenset(
    {"warning_needs_response", "warning_under_review", "warning_closed", "prevented"}
)


def dispute_reported(body: dict[str, Any], *, provider: str, at: datetime) -> None:
    """
    Act on a dispute as it stands now: take the money, or bring it back.

    :raises billing.services.payments.TooEarly: if its payment is not known yet
    :raises NeedsPerson: if its amount does not fit the payment
    """
    if body["status"] in ONLY_ASKING:
        return
    top_up = lock_paid(body, provider=provider)
    dispute = Dispute.objects.filter(provider_ref=body["id"]).first()
    if dispute is None:
        dispute = _open(top_up, body, at=at)
    if dispute.status == Status.OPEN and body["status"] in {"won", "lost"}:
        _decide(dispute, top_up, is_won=body["status"] == "won", at=at)


def references_to_stop() -> list[str]:
    """
    Return what the open holds of frozen wallets are for: it has to be stopped.
    """
    frozen = Hold.objects.filter(
        Q(wallet__frozen_at__isnull=False), status=Hold.Status.OPEN
    )
    return list(frozen.order_by("pk").values_list("reference", flat=True))


def _open(top_up: TopUp, body: dict[str, Any], *, at: datetime) -> Dispute:
    currency = str(top_up.total.currency)
    if body["currency"].upper() != currency:
        raise NeedsPerson("The dispute is in another currency than the payment.")
    total = from_minor(body["amount"], currency)
    net, vat = split_back(top_up, total)
    dispute = Dispute.objects.create(
        top_up=top_up,
        provider_ref=body["id"],
        net=net,
        vat=vat,
        total=total,
        reason=str(body.get("reason") or ""),
        opened_at=at,
    )
    freeze_for(dispute, at=at)
    fee = sum(row.get("fee", 0) for row in body.get("balance_transactions") or [])
    _take(dispute, top_up, fee=from_minor(fee, currency), at=at)
    return dispute


def _take(dispute: Dispute, top_up: TopUp, *, fee: Money, at: datetime) -> None:
    losses = open_account(Account.Kind.WRITE_OFFS, str(fee.currency))
    clearing, vat_account = accounts_of(top_up)
    wallet = lock_wallet(top_up.wallet, clearing, vat_account, losses)
    entries = [
        *entries_back(
            top_up,
            wallet,
            net=dispute.net,
            vat=dispute.vat,
            kinds=(Kind.DISPUTE, Kind.TAX_REFUND),
        ),
        Entry(losses, clearing, fee, Kind.DISPUTE_FEE, "fee"),
    ]
    post(
        entries,
        key=f"dispute:{dispute.provider_ref}",
        at=at,
        reference=f"top_up:{top_up.uuid}",
    )
    top_up.refunded_net += dispute.net
    top_up.refunded_vat += dispute.vat
    top_up.save(update_fields=["refunded_net", "refunded_vat"])


def _decide(dispute: Dispute, top_up: TopUp, *, is_won: bool, at: datetime) -> None:
    dispute.status = Status.WON if is_won else Status.LOST
    dispute.closed_at = at
    dispute.save(update_fields=["status", "closed_at"])
    if is_won:
        _bring_back(dispute, top_up, at=at)


def _bring_back(dispute: Dispute, top_up: TopUp, *, at: datetime) -> None:
    wallet = lock_wallet(top_up.wallet, *accounts_of(top_up))
    taken = entries_back(
        top_up,
        wallet,
        net=dispute.net,
        vat=dispute.vat,
        kinds=(Kind.DISPUTE, Kind.TAX_REFUND),
    )
    post(
        [Entry(e.credit, e.debit, e.amount, e.kind, e.leg) for e in taken],
        key=f"dispute-won:{dispute.provider_ref}",
        at=at,
        reference=f"top_up:{top_up.uuid}",
    )
    top_up.refunded_net -= dispute.net
    top_up.refunded_vat -= dispute.vat
    top_up.save(update_fields=["refunded_net", "refunded_vat"])
    let_go_after(dispute, at=at)
