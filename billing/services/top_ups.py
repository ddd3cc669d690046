"""
Top-ups up to the provider's page: quoted, confirmed once, sent to the provider.

A quote is a row, and confirming it moves that row on by a guarded UPDATE: two clicks
on the button confirm one top-up. The provider is asked after that has been committed,
under the row's own key and with nothing but what the row says, so a lost answer is
found by asking again.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Sum
from django.utils import translation
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from djmoney.money import Money

import formats
from billing import gateways, tax
from billing.gateway import CheckoutOrder, Gateway, GatewayError, OutcomeUnknown
from billing.models import Card, TopUp, Wallet
from billing.services.profiles import decide_vat, profile_of
from billing.services.wallets import find_wallet

LEAST = Decimal("5.00")
MOST = Decimal("10000.00")
QUOTE_IS_GOOD_FOR = timedelta(minutes=30)
CHECKOUT_IS_OPEN_FOR = timedelta(hours=1)
LIMIT_PERIOD = timedelta(hours=24)


class TopUpRefused(Exception):
    """
    This cannot be topped up; the message says why and what to do.
    """

    def __init__(self, message: str | Promise) -> None:
        super().__init__(message)
        self.message = message


def find_top_up(*, user_id: int, top_up: UUID) -> TopUp | None:
    """
    Return the user's own top-up, or None.
    """
    rows = TopUp.objects.of_user(user_id).select_related("wallet__available")
    return rows.filter(uuid=top_up).first()


def find_top_up_by_reference(*, user_id: int, reference: str) -> TopUp | None:
    """
    Return the user's own top-up that a provider knows under this reference, or None.
    """
    try:
        return find_top_up(user_id=user_id, top_up=UUID(reference))
    except ValueError:
        return None


def recent_top_ups(*, user_id: int, number: int) -> list[TopUp]:
    """
    Return the user's last confirmed top-ups, the newest first.
    """
    rows = TopUp.objects.of_user(user_id).confirmed().newest_first()
    return list(rows[:number])


def start_top_up(
    *,
    user_id: int,
    net: Money,
    email: str,
    language: str,
    at: datetime,
    saves_card: bool = False,
) -> TopUp:
    """
    Quote a top-up: what is credited, the VAT on it, and what is to pay.

    Nothing happens until it is confirmed.

    :raises TopUpRefused: if the amount is outside the limits, or the customer's
        country is not known yet
    :raises billing.services.profiles.VatRateMissing: if the country has no VAT rate
    :raises billing.services.wallets.NoSuchWallet: for a currency without a wallet
    """
    wallet = find_wallet(user_id=user_id, currency=str(net.currency))
    require_amount(net)
    require_limit(wallet, net, at=at)
    return new_top_up(
        wallet, net, email=email, language=language, at=at, saves_card=saves_card
    )


def new_top_up(wallet: Wallet, net: Money, *, at: datetime, **content: Any) -> TopUp:
    """
    Add the row of a top-up of `net` with the VAT that applies at `at`.

    :raises TopUpRefused: if the customer's country is not known yet
    :raises billing.services.profiles.VatRateMissing: if the country has no VAT rate
    """
    profile = profile_of(user_id=wallet.user_id)
    if profile is None:
        raise TopUpRefused(_("Say which country you are in first."))
    vat = decide_vat(profile, at=at)
    taxed = tax.add_vat(net, rate=vat.rate)
    nothing = Money(0, net.currency)
    return TopUp.objects.create(
        wallet=wallet,
        net=taxed.net,
        vat=taxed.vat,
        total=taxed.total,
        refunded_net=nothing,
        refunded_vat=nothing,
        vat_rate=vat.rate,
        vat_treatment=vat.treatment,
        is_vat_pending=vat.is_pending,
        country=profile.country,
        vat_id=profile.vat_id,
        created_at=at,
        **content,
    )


def confirm_top_up(*, top_up_id: int, at: datetime) -> TopUp:
    """
    Confirm a quote once and ask the provider for its payment page.

    Confirming again changes nothing and returns the top-up as it stands.

    :raises TopUpRefused: if the quote is too old, or over the daily limit by now
    """
    if _claim(top_up_id=top_up_id, at=at):
        open_checkout(top_up_id=top_up_id)
    return TopUp.objects.select_related("wallet").get(pk=top_up_id)


@transaction.atomic
def _claim(*, top_up_id: int, at: datetime) -> bool:
    """
    Move the quote to STARTED and return whether it was this call that did.
    """
    top_up = TopUp.objects.select_for_update().get(pk=top_up_id)
    if top_up.status != TopUp.Status.DRAFT:
        return False
    if at - top_up.created_at > QUOTE_IS_GOOD_FOR:
        raise TopUpRefused(_("This quote is too old. Enter the amount again."))
    # Two quotes confirmed at once may not both pass the limit.
    wallet = Wallet.objects.select_for_update().get(pk=top_up.wallet_id)
    require_limit(wallet, top_up.net, at=at)
    top_up.status = TopUp.Status.STARTED
    top_up.provider = gateways.current().name
    top_up.confirmed_at = at
    top_up.save(update_fields=["status", "provider", "confirmed_at"])
    return True


def open_checkout(*, top_up_id: int) -> None:
    """
    Ask the provider for the payment page of a confirmed top-up.

    It may be called again at any time: the provider gives one page per top-up.
    """
    top_up = TopUp.objects.select_related("wallet").get(pk=top_up_id)
    rows = TopUp.objects.filter(
        pk=top_up_id, status__in=[TopUp.Status.STARTED, TopUp.Status.UNKNOWN]
    )
    gateway = gateways.by_name(top_up.provider)
    try:
        if top_up.saves_card and not top_up.customer_ref:
            top_up.customer_ref = _customer(top_up, gateway)
            TopUp.objects.filter(pk=top_up_id).update(customer_ref=top_up.customer_ref)
        checkout = gateway.open_checkout(_order(top_up))
    except OutcomeUnknown:
        rows.update(status=TopUp.Status.UNKNOWN)
    except GatewayError as error:
        rows.update(status=TopUp.Status.FAILED, failure=str(error.message))
    else:
        rows.update(
            status=TopUp.Status.PENDING,
            provider_ref=checkout.provider_ref,
            checkout_url=checkout.url,
        )


def _customer(top_up: TopUp, gateway: Gateway) -> str:
    """
    Return what the provider calls the customer: one customer, however many cards.
    """
    user_id = top_up.wallet.user_id
    known = Card.objects.filter(user_id=user_id, provider=gateway.name).first()
    if known is not None:
        return known.customer_ref
    return gateway.open_customer(key=f"customer:{top_up.uuid}", email=top_up.email)


def _order(top_up: TopUp) -> CheckoutOrder:
    assert top_up.confirmed_at is not None
    with translation.override(top_up.language):
        description = _("%(site)s prepaid balance: %(net)s plus VAT") % {
            "site": settings.SITE_NAME,
            "net": formats.money(top_up.net, top_up.language),
        }
        return CheckoutOrder(
            key=f"topup:{top_up.uuid}",
            reference=str(top_up.uuid),
            total=top_up.total,
            description=description,
            email=top_up.email,
            language=top_up.language,
            return_url=f"{settings.SITE_URL}{top_up.get_absolute_url()}",
            expires_at=top_up.confirmed_at + CHECKOUT_IS_OPEN_FOR,
            saves_card_for=top_up.customer_ref,
        )


def require_amount(net: Money) -> None:
    """
    Check the amount of one top-up.

    :raises TopUpRefused: if it is too small or too large
    """
    least, most = Money(LEAST, net.currency), Money(MOST, net.currency)
    language = formats.language()
    if net < least:
        message = _("The smallest top-up is %s.")
        raise TopUpRefused(message % formats.money(least, language))
    if net > most:
        message = _("The largest top-up is %s.")
        raise TopUpRefused(message % formats.money(most, language))


def require_limit(wallet: Wallet, net: Money, *, at: datetime) -> None:
    """
    Check the limit of a wallet in 24 hours.

    :raises TopUpRefused: if `net` more would be above it
    """
    limit = Money(settings.TOP_UP_DAILY_LIMIT, net.currency)
    counted = wallet.top_ups.counted().filter(confirmed_at__gt=at - LIMIT_PERIOD)
    used = Money(counted.aggregate(sum=Sum("net"))["sum"] or 0, net.currency)
    if used + net > limit:
        language = formats.language()
        message = _(
            "You can top up %(limit)s in 24 hours, and %(left)s of that is left."
        )
        raise TopUpRefused(
            message
            % {
                "limit": formats.money(limit, language),
                "left": formats.money(max(limit - used, limit * 0), language),
            }
        )
