"""
One price at a time: set it, say what speaks against it, confirm that it is true.
"""

from collections.abc import Collection
from datetime import datetime
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _
from djmoney.money import Money

from catalog import price_bounds
from catalog.models import Offer, OfferPrice
from catalog.price_bounds import RATE_PLACES, PriceRefused
from money import round_half_up

if TYPE_CHECKING:
    from marketplace.models import User


@transaction.atomic
def set_price(
    *,
    offer_id: int,
    hourly_price: Money,
    valid_from: datetime,
    actor: "User | None",
    at: datetime,
    reason: str = "",
) -> OfferPrice:
    """
    Add a version to the offer's price, valid from `at` or later, and return it.

    `hourly_price` is for one GPU, ex tax. Earlier versions stay as they are, and so
    does what was agreed on while they were valid.

    :raises PriceRefused: if it is not positive, would change the past, or a version
        with this start exists
    :raises PriceNotMeant: if it is more than 60 % off the GPU's median of the last 30
        days, or its only one in this currency: `propose_price` asks a second person
    """
    offer = Offer.objects.select_for_update().get(pk=offer_id)
    check_price(
        gpu_id=offer.gpu_id,
        hourly_price=hourly_price,
        valid_from=valid_from,
        at=at,
    )
    return add_version(
        offer, hourly_price, valid_from=valid_from, actor=actor, at=at, reason=reason
    )


def add_version(
    offer: Offer,
    hourly_price: Money,
    *,
    valid_from: datetime,
    actor: "User | None",
    at: datetime,
    reason: str = "",
) -> OfferPrice:
    """
    Add a price that was checked before to an offer that is locked.

    :raises PriceRefused: if a version with this start exists
    """
    if offer.prices.filter(valid_from=valid_from).exists():
        raise PriceRefused(
            _(
                "A price that starts at this moment exists already. Choose another start."
            )
        )
    return offer.prices.create(
        hourly_price=Money(
            round_half_up(hourly_price.amount, RATE_PLACES), hourly_price.currency
        ),
        valid_from=valid_from,
        confirmed_at=at,
        created_at=at,
        created_by=actor,
        reason=reason.strip(),
    )


def check_price(
    *,
    gpu_id: int,
    hourly_price: Money,
    valid_from: datetime,
    at: datetime,
    reason: str = "",
    is_confirmed: bool = False,
) -> bool:
    """
    Say what speaks against a price, and return whether a second person approves it.

    :raises PriceRefused: if it is not positive or would change the past
    :raises PriceNotMeant: as `set_price` does, unless it is both confirmed and given
        a reason
    """
    return price_bounds.check(
        hourly_price,
        gpu_id=gpu_id,
        valid_from=valid_from,
        medians=price_bounds.recent_medians(gpu_ids=[gpu_id], at=at),
        is_meant=is_confirmed and bool(reason.strip()),
        at=at,
    )


def median_price(*, gpu_id: int, currency: str, at: datetime) -> Decimal | None:
    """
    Return the median of what suppliers asked for the GPU in the last 30 days.

    None if nobody asked in this currency.
    """
    medians = price_bounds.recent_medians(gpu_ids=[gpu_id], at=at)
    return medians.of(gpu_id=gpu_id, currency=currency)


def confirm_price(*, offer_id: int, at: datetime) -> OfferPrice:
    """
    Note that the offer's price of `at` is still true, and return the version.

    :raises OfferPrice.DoesNotExist: if the offer has no price then
    """
    confirm_prices(offer_ids=[offer_id], at=at)
    return OfferPrice.objects.valid(at).get(offer=offer_id)


def confirm_prices(*, offer_ids: Collection[int], at: datetime) -> int:
    """
    Note that the prices of these offers are still true; return how many were older.
    """
    prices = OfferPrice.objects.valid(at).filter(offer__in=offer_ids)
    return prices.filter(confirmed_at__lt=at).update(confirmed_at=at)


def confirm_prices_of(*, supplier_slug: str, at: datetime) -> int:
    """
    Note that all of a supplier's prices are still true; return how many were older.
    """
    prices = OfferPrice.objects.valid(at).filter(confirmed_at__lt=at)
    return prices.filter(offer__supplier__slug=supplier_slug).update(confirmed_at=at)


def lock_offers(offer_ids: Collection[int]) -> None:
    """
    Let nobody else write prices of these offers until the transaction ends.
    """
    # In one order everywhere, so that two staff wait for each other, never both.
    offers = Offer.objects.filter(pk__in=offer_ids).order_by("pk")
    list(offers.select_for_update(of=["self"], no_key=True).values_list("pk"))
