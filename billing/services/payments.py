"""
Money that has arrived: credit it, once per payment, whoever reports it and how often.
"""

from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from djmoney.money import Money

from billing.ledger import (
    Entry,
    claim_key,
    open_account,
    post,
    retry_conflicts,
)
from billing.mails import address_of, queue_mail
from billing.models import Account, Card, TopUp, Transfer
from billing.services.wallets import find_wallet, lock_wallet
from money import from_minor, to_minor

Kind = Transfer.Kind

FAILED_LATER = frozenset({"requires_payment_method", "canceled"})


class NeedsPerson(Exception):
    """
    What the provider reports does not fit what is known here: no money is moved.
    """


class TooEarly(Exception):
    """
    What the provider reports follows from something that has not been reported yet.
    """


@retry_conflicts
@transaction.atomic
def record_payment(
    *,
    user_id: int,
    net: Money,
    vat: Money,
    provider: str,
    payment_id: str,
    at: datetime,
    reference: str = "",
) -> bool:
    """
    Credit the wallet with `net` and the tax account with `vat`, once per payment.

    Returns whether it was this call that did.

    :raises billing.services.wallets.NoSuchWallet: if the user has none in the currency
    :raises billing.ledger.KeyReused: if the payment was recorded with other amounts
    """
    key = f"{provider}:{payment_id}"
    content = {"user": user_id, "net": net, "vat": vat}
    if not claim_key(verb="record_payment", key=key, content=content).is_new:
        return False
    currency = str(net.currency)
    wallet = find_wallet(user_id=user_id, currency=currency)
    clearing = open_account(Account.Kind.CLEARING, currency, provider)
    tax = open_account(Account.Kind.TAX, currency)
    wallet = lock_wallet(wallet, clearing, tax)
    entries = [
        Entry(clearing, wallet.available, net, Kind.TOP_UP, "net"),
        Entry(clearing, tax, vat, Kind.TAX, "vat"),
    ]
    post(entries, key=f"payment:{key}", at=at, reference=reference)
    return True


def session_completed(session: dict[str, Any], *, provider: str, at: datetime) -> None:
    """
    Act on a finished checkout: credit what is paid, note what is on its way or failed.

    :raises NeedsPerson: if it does not fit the top-up
    """
    top_up = lock_top_up(session, provider=provider)
    intent = session["payment_intent"] or {}
    if session["payment_status"] == "no_payment_required":
        _credit_gift(top_up, session, at=at)
    elif session["payment_status"] == "paid":
        _require_total(top_up, session["amount_total"], session["currency"])
        _credit(top_up, intent, at=at)
    elif intent.get("status") in FAILED_LATER:
        # The bank was asked after the checkout, and it refused.
        _note_failure(top_up, intent)
        _end(top_up, TopUp.Status.FAILED)
    elif top_up.status in {*TopUp.OPEN, TopUp.Status.EXPIRED}:
        top_up.status = TopUp.Status.PROCESSING
        top_up.save(update_fields=["status"])


def session_expired(session: dict[str, Any], *, provider: str, at: datetime) -> None:
    """
    Note that nobody paid in time, or that the only try was declined.
    """
    top_up = lock_top_up(session, provider=provider)
    declined = bool(top_up.failure)
    _end(top_up, TopUp.Status.FAILED if declined else TopUp.Status.EXPIRED)


def payment_succeeded(intent: dict[str, Any], *, provider: str, at: datetime) -> None:
    """
    Credit a payment that succeeded.

    :raises NeedsPerson: if it does not fit the top-up
    """
    top_up = lock_top_up(intent, provider=provider)
    _require_total(top_up, intent["amount_received"], intent["currency"])
    _credit(top_up, intent, at=at)


def _credit(top_up: TopUp, intent: dict[str, Any], *, at: datetime) -> None:
    credit(top_up, payment_id=intent["id"], at=at)
    _keep_card(top_up, intent, at=at)
    charge = intent.get("latest_charge") or ""
    TopUp.objects.filter(pk=top_up.pk, charge_id="").update(charge_id=charge)


def _keep_card(top_up: TopUp, intent: dict[str, Any], *, at: datetime) -> None:
    customer, card = intent.get("customer"), intent.get("payment_method")
    if top_up.saves_card and customer and card:
        Card.objects.update_or_create(
            user_id=top_up.wallet.user_id,
            provider=top_up.provider,
            defaults={
                "customer_ref": customer,
                "card_ref": card,
                "label": "",
                "saved_at": at,
            },
        )


def payment_failed(intent: dict[str, Any], *, provider: str, at: datetime) -> None:
    """
    Note why a try to pay failed; on the payment page another try may follow.
    """
    top_up = lock_top_up(intent, provider=provider)
    if top_up.status == TopUp.Status.PAID:
        return
    _note_failure(top_up, intent)
    if top_up.status == TopUp.Status.EXPIRED or top_up.kind == TopUp.Kind.AUTO:
        _end(top_up, TopUp.Status.FAILED)


def _note_failure(top_up: TopUp, intent: dict[str, Any]) -> None:
    error = intent.get("last_payment_error") or {}
    top_up.failure = str(error.get("message") or "")[:250]
    top_up.save(update_fields=["failure"])


def credit(top_up: TopUp, *, payment_id: str, at: datetime) -> None:
    """
    Credit a locked top-up with the payment that paid it, once.

    :raises NeedsPerson: if another payment has paid it already
    """
    if top_up.status == TopUp.Status.PAID:
        if top_up.payment_id != payment_id:
            raise NeedsPerson(f"A second payment, {payment_id}, for a paid top-up.")
        return
    record_payment(
        user_id=top_up.wallet.user_id,
        net=top_up.net,
        vat=top_up.vat,
        provider=top_up.provider,
        payment_id=payment_id,
        at=at,
        reference=f"top_up:{top_up.uuid}",
    )
    top_up.payment_id = payment_id
    _paid(top_up, at=at)


def lock_top_up(body: dict[str, Any], *, provider: str) -> TopUp:
    """
    Return the top-up that a session or payment is for, locked.

    :raises NeedsPerson: if it names none of ours
    """
    reference = str((body.get("metadata") or {}).get("top_up", ""))
    try:
        rows = TopUp.objects.select_for_update(of=("self",)).select_related("wallet")
        top_up = rows.get(uuid=UUID(reference), provider=provider)
    except (TopUp.DoesNotExist, ValueError):
        raise NeedsPerson(f"There is no top-up {reference!r}.") from None
    return top_up


def _credit_gift(top_up: TopUp, session: dict[str, Any], *, at: datetime) -> None:
    """
    Credit what a coupon paid in full: out of promotions, never to be refunded to a card.
    """
    discount = (session.get("total_details") or {}).get("amount_discount")
    if session["amount_total"] != 0 or discount != to_minor(top_up.total):
        raise NeedsPerson("Nothing was paid, and no coupon covers the total.")
    if top_up.status == TopUp.Status.PAID:
        return
    currency = str(top_up.net.currency)
    promotions = open_account(Account.Kind.PROMOTIONS, currency)
    wallet = lock_wallet(top_up.wallet, promotions)
    gift = Entry(promotions, wallet.available, top_up.net, Kind.PROMOTION, "net")
    post([gift], key=f"gift:{top_up.uuid}", at=at, reference=f"top_up:{top_up.uuid}")
    top_up.is_gift = True
    _paid(top_up, at=at)


def _paid(top_up: TopUp, *, at: datetime) -> None:
    top_up.status = TopUp.Status.PAID
    top_up.paid_at = at
    top_up.failure = ""
    top_up.save(update_fields=["status", "paid_at", "payment_id", "is_gift", "failure"])
    queue_mail(
        "top_up_paid",
        to=top_up.email,
        language=top_up.language,
        top_up=top_up,
        link=address_of(top_up.get_absolute_url, language=top_up.language),
    )


def _end(top_up: TopUp, status: TopUp.Status) -> None:
    if top_up.status in {*TopUp.OPEN, TopUp.Status.EXPIRED}:
        top_up.status = status
        top_up.save(update_fields=["status"])


def _require_total(top_up: TopUp, minor: int, currency: str) -> None:
    asked = str(top_up.total.currency)
    if currency.upper() != asked or from_minor(minor, asked) != top_up.total:
        raise NeedsPerson(
            f"{minor} {currency} was paid where {to_minor(top_up.total)} {asked} was"
            " asked for, both in minor units."
        )
