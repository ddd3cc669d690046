"""
Automatic top-ups: a saved card pays when little is available in a wallet.

Opt-in, with a cap a month. The row of the top-up is written first, and only one of a
wallet can be open; then the card is charged under that row's key. A decline stops it
and tells the customer, once.
"""

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import F, Sum
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing import gateways
from billing.gateway import (
    CardDeclined,
    CardOrder,
    GatewayError,
    OutcomeUnknown,
    ProviderObject,
)
from billing.ledger import retry_conflicts
from billing.mails import queue_mail
from billing.models import AutoTopUp, Card, TopUp
from billing.services import payments
from billing.services.profiles import VatRateMissing
from billing.services.top_ups import (
    TopUpRefused,
    new_top_up,
    require_amount,
    require_limit,
)
from billing.services.wallets import find_wallet

logger = logging.getLogger(__name__)
Status = TopUp.Status
STARTS_A_RUN = 100


class NoCard(Exception):
    """
    There is no saved card to pay with.
    """

    def __init__(self) -> None:
        super().__init__(
            _("Save a card first: tick the box when you top up the next time.")
        )


def card_of(*, user_id: int) -> Card | None:
    """
    Return the card that the user saved with the current provider, or None.
    """
    provider = gateways.current().name
    return Card.objects.filter(user_id=user_id, provider=provider).first()


def auto_top_up_of(*, user_id: int, currency: str) -> AutoTopUp | None:
    """
    Return the user's standing order for a wallet, or None.

    :raises billing.services.wallets.NoSuchWallet: if there is no such wallet
    """
    wallet = find_wallet(user_id=user_id, currency=currency)
    return AutoTopUp.objects.filter(wallet=wallet).first()


def switch_on(
    *,
    user_id: int,
    threshold: Money,
    amount: Money,
    monthly_cap: Money,
    email: str,
    language: str,
    at: datetime,
) -> AutoTopUp:
    """
    Switch automatic top-ups of a wallet on, or change them.

    :raises NoCard: if no card is saved
    :raises TopUpRefused: if the amount is outside the limits or above the cap
    :raises billing.services.wallets.NoSuchWallet: if there is no such wallet
    """
    wallet = find_wallet(user_id=user_id, currency=str(amount.currency))
    if card_of(user_id=user_id) is None:
        raise NoCard
    require_amount(amount)
    if monthly_cap < amount:
        raise TopUpRefused(_("The most in a month has to cover one top-up."))
    content = {
        "is_on": True,
        "threshold": threshold,
        "amount": amount,
        "monthly_cap": monthly_cap,
        "email": email,
        "language": language,
        "consented_at": at,
        "stopped_at": None,
        "stop_reason": "",
        "capped_at": None,
    }
    row, _is_new = AutoTopUp.objects.update_or_create(wallet=wallet, defaults=content)
    return row


def switch_off(*, user_id: int, currency: str, at: datetime) -> None:
    """
    Switch automatic top-ups of a wallet off.
    """
    AutoTopUp.objects.filter(
        wallet__user_id=user_id, wallet__currency=currency, is_on=True
    ).update(is_on=False, stopped_at=at, stop_reason="")


def remove_card(*, user_id: int, at: datetime) -> None:
    """
    Have the provider forget the saved card, and stop what it pays for.

    :raises billing.gateway.OutcomeUnknown: if the provider did not answer
    """
    AutoTopUp.objects.filter(wallet__user_id=user_id, is_on=True).update(
        is_on=False, stopped_at=at, stop_reason=""
    )
    card = card_of(user_id=user_id)
    if card is None:
        return
    try:
        gateways.by_name(card.provider).forget_card(card.card_ref)
    except OutcomeUnknown:
        raise
    except GatewayError:
        # It refuses to forget what it does not know: the card is gone already.
        logger.warning("The provider did not know a card that was to be removed")
    card.delete()


def describe_cards() -> None:
    """
    Ask the providers for the brand and last digits of cards saved lately.
    """
    for card in Card.objects.filter(label="").order_by("pk")[:STARTS_A_RUN]:
        try:
            card.label = gateways.by_name(card.provider).describe_card(card.card_ref)
        except GatewayError:
            continue
        card.save(update_fields=["label"])


def run_due(*, at: datetime) -> int:
    """
    Top up the wallets in which too little is available; return how many were charged.
    """
    due = AutoTopUp.objects.filter(
        is_on=True,
        wallet__frozen_at=None,
        wallet__available__balance__lt=F("threshold"),
    )
    charged = 0
    for auto_id in due.order_by("pk").values_list("pk", flat=True)[:STARTS_A_RUN]:
        top_up = _start(auto_id, at=at)
        if top_up is not None:
            charge(top_up_id=top_up.pk, at=at)
            charged += 1
    return charged


@retry_conflicts
@transaction.atomic
def _start(auto_id: int, *, at: datetime) -> TopUp | None:
    """
    Write the row of the next top-up, if one is due, allowed and not open already.
    """
    auto = AutoTopUp.objects.select_for_update(of=("self",)).get(pk=auto_id)
    if not _is_due(auto):
        return None
    card = card_of(user_id=auto.wallet.user_id)
    # The provider's event can come before, or instead of, the answer to a charge.
    reason = _last_failure(auto)
    if card is None:
        reason = _("There is no saved card any more.")
    if card is None or reason is not None:
        _stop(auto, reason or "", at=at)
        return None
    if _used(auto, at=at) + auto.amount > auto.monthly_cap:
        _tell_capped(auto, at=at)
        return None
    return _new_top_up(auto, card, at=at)


def _is_due(auto: AutoTopUp) -> bool:
    wallet = auto.wallet
    is_open = wallet.top_ups.filter(kind=TopUp.Kind.AUTO, status__in=TopUp.OPEN)
    is_low = wallet.available.balance < auto.threshold
    return auto.is_on and is_low and not is_open.exists()


def _new_top_up(auto: AutoTopUp, card: Card, *, at: datetime) -> TopUp | None:
    try:
        require_limit(auto.wallet, auto.amount, at=at)
        return new_top_up(
            auto.wallet,
            auto.amount,
            at=at,
            kind=TopUp.Kind.AUTO,
            status=Status.STARTED,
            confirmed_at=at,
            provider=card.provider,
            customer_ref=card.customer_ref,
            card_ref=card.card_ref,
            email=auto.email,
            language=auto.language,
        )
    except (TopUpRefused, VatRateMissing) as error:
        _stop(auto, str(error), at=at)
        return None


def charge(*, top_up_id: int, at: datetime) -> None:
    """
    Charge the saved card for an automatic top-up; charging again charges once.
    """
    top_up = TopUp.objects.get(pk=top_up_id)
    order = CardOrder(
        key=f"auto:{top_up.uuid}",
        reference=str(top_up.uuid),
        total=top_up.total,
        customer_ref=top_up.customer_ref,
        card_ref=top_up.card_ref,
    )
    try:
        intent = gateways.by_name(top_up.provider).charge_card(order)
    except OutcomeUnknown:
        open_rows = TopUp.objects.filter(pk=top_up_id, status__in=TopUp.OPEN)
        open_rows.update(status=Status.UNKNOWN)
    except CardDeclined as error:
        _fail(top_up_id, str(error.message), at=at)
    except GatewayError as error:
        logger.exception("An automatic top-up was refused")
        _fail(top_up_id, str(error.message), at=at)
    else:
        _settle(top_up_id, intent, at=at)


def _settle(top_up_id: int, intent: ProviderObject, *, at: datetime) -> None:
    status = intent.body["status"]
    if status == "succeeded":
        _credit(intent, provider=TopUp.objects.get(pk=top_up_id).provider, at=at)
    elif status == "processing":
        open_rows = TopUp.objects.filter(pk=top_up_id, status__in=TopUp.OPEN)
        open_rows.update(status=Status.PROCESSING, provider_ref=str(intent.body["id"]))
    else:
        _fail(top_up_id, _("Your bank wants you to confirm the payment."), at=at)


@retry_conflicts
@transaction.atomic
def _credit(intent: ProviderObject, *, provider: str, at: datetime) -> None:
    payments.payment_succeeded(dict(intent.body), provider=provider, at=at)


@retry_conflicts
@transaction.atomic
def _fail(top_up_id: int, reason: str, *, at: datetime) -> None:
    top_up = TopUp.objects.select_for_update(of=("self",)).get(pk=top_up_id)
    if top_up.status not in TopUp.OPEN:
        return
    top_up.status = Status.FAILED
    top_up.failure = reason[:250]
    top_up.save(update_fields=["status", "failure"])
    _stop(AutoTopUp.objects.get(wallet_id=top_up.wallet_id), reason, at=at)


def _stop(auto: AutoTopUp, reason: str, *, at: datetime) -> None:
    auto.is_on = False
    auto.stopped_at = at
    auto.stop_reason = reason[:250]
    auto.save(update_fields=["is_on", "stopped_at", "stop_reason"])
    queue_mail("auto_top_up_stopped", to=auto.email, language=auto.language, auto=auto)


def _last_failure(auto: AutoTopUp) -> str | None:
    """
    Return why the last automatic top-up since the customer's consent failed, or None.
    """
    rows = auto.wallet.top_ups.filter(
        kind=TopUp.Kind.AUTO, created_at__gte=auto.consented_at
    )
    last = rows.newest_first().first()
    return last.failure if last is not None and last.status == Status.FAILED else None


def _tell_capped(auto: AutoTopUp, *, at: datetime) -> None:
    """
    Say once in a month that the cap is reached.
    """
    if auto.capped_at is not None and auto.capped_at >= _month_start(at):
        return
    auto.capped_at = at
    auto.save(update_fields=["capped_at"])
    queue_mail("auto_top_up_capped", to=auto.email, language=auto.language, auto=auto)


def _used(auto: AutoTopUp, *, at: datetime) -> Money:
    # What is confirmed in the first instant of a month belongs to that month.
    paid = auto.wallet.top_ups.counted().filter(
        kind=TopUp.Kind.AUTO, confirmed_at__gte=_month_start(at)
    )
    return Money(paid.aggregate(sum=Sum("net"))["sum"] or 0, auto.amount.currency)


def _month_start(at: datetime) -> datetime:
    return at.replace(day=1, hour=0, minute=0, second=0, microsecond=0)
