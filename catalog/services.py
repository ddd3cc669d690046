"""
The writes of the catalog: prices, nodes, and the data that a new catalog starts with.
"""

from collections.abc import Collection
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.db.models.functions import Greatest, Least
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from djmoney.money import Money

import formats
from catalog import loading
from catalog.models import Offer, OfferPrice
from money import round_half_up

if TYPE_CHECKING:
    from marketplace.models import User

MEDIAN_DAYS = 30
FARTHEST_FROM_MEDIAN = Decimal("0.6")
RATE_PLACES = 6


class NoFreeNode(Exception):
    """
    Every node of the offer is taken.
    """

    def __init__(self) -> None:
        super().__init__(_("No node of this offer is free any more. Choose another."))


def _language() -> str:
    return get_language() or "en"


class PriceRefused(Exception):
    """
    A price cannot become a version of the offer's price; the message says why.
    """


class PriceFarFromMedian(PriceRefused):
    """
    A price is so far from what the GPU costs that somebody has to say it is meant.
    """

    def __init__(self, *, median: Money) -> None:
        super().__init__(
            _(
                "This is more than %(share)s away from %(median)s, the median of what"
                " was asked for this GPU in the last 30 days. If it is meant, tick"
                " the confirmation and give a reason."
            )
            % {
                "share": formats.percent(FARTHEST_FROM_MEDIAN, _language()),
                "median": formats.rate(median, _language()),
            }
        )
        self.median = median


def load_catalog(*, at: datetime) -> dict[str, int]:
    """
    Add what the data files hold and the database lacks; return how many of each.

    Nothing that exists is changed, so staff's prices and texts stay as they are.
    """
    return loading.load_catalog(at=at)


@transaction.atomic
def set_price(
    *,
    offer_id: int,
    hourly_price: Money,
    valid_from: datetime,
    actor: "User | None",
    at: datetime,
    reason: str = "",
    is_confirmed: bool = False,
) -> OfferPrice:
    """
    Add a version to the offer's price, valid from `at` or later, and return it.

    `hourly_price` is for one GPU, ex tax. Earlier versions stay as they are, and so
    does what was agreed on while they were valid.

    :raises PriceRefused: if it is not positive, would change the past, or a version
        with this start exists
    :raises PriceFarFromMedian: if it is more than 60 % off the GPU's median of the
        last 30 days and not both confirmed and given a reason
    """
    offer = Offer.objects.select_for_update().get(pk=offer_id)
    check_price(
        gpu_id=offer.gpu_id,
        hourly_price=hourly_price,
        valid_from=valid_from,
        at=at,
        reason=reason,
        is_confirmed=is_confirmed,
    )
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
) -> None:
    """
    Say what speaks against a price for an offer of this GPU, before it is set.

    :raises PriceRefused: if it is not positive, would change the past, or is the
        GPU's only one in its currency and not both confirmed and given a reason
    :raises PriceFarFromMedian: as `set_price` does
    """
    if round_half_up(hourly_price.amount, RATE_PLACES) <= 0:
        raise PriceRefused(_("A price is more than zero."))
    if valid_from < at:
        raise PriceRefused(
            _("A price cannot start in the past: what was charged then stays true.")
        )
    if is_confirmed and reason.strip():
        return
    currency = hourly_price.currency.code
    median = median_price(gpu_id=gpu_id, currency=currency, at=at)
    if median is None:
        _check_first_in_currency(gpu_id=gpu_id, currency=currency, at=at)
    elif abs(hourly_price.amount - median) > median * FARTHEST_FROM_MEDIAN:
        raise PriceFarFromMedian(median=Money(median, currency))


def _check_first_in_currency(*, gpu_id: int, currency: str, at: datetime) -> None:
    # A slip of the currency must not be the way around the comparison.
    if _recent_prices(gpu_id=gpu_id, at=at).exists():
        raise PriceRefused(
            _(
                "Nobody asks for this GPU in %(currency)s, so there is nothing to"
                " compare the price with. If it is meant, tick the confirmation and"
                " give a reason."
            )
            % {"currency": currency}
        )


def median_price(*, gpu_id: int, currency: str, at: datetime) -> Decimal | None:
    """
    Return the median of what suppliers asked for the GPU in the last 30 days.

    Every version that was valid on one of these days and confirmed since then counts
    once; None if there is no such version in this currency.
    """
    versions = _recent_prices(gpu_id=gpu_id, at=at).filter(
        hourly_price_currency=currency
    )
    amounts = sorted(price.hourly_price.amount for price in versions)
    if not amounts:
        return None
    middle = len(amounts) // 2
    return (amounts[middle] + amounts[~middle]) / 2


def _recent_prices(*, gpu_id: int, at: datetime) -> "QuerySet[OfferPrice]":
    since = at - timedelta(days=MEDIAN_DAYS)
    return OfferPrice.objects.filter(
        Q(valid_to__isnull=True) | Q(valid_to__gt=since),
        offer__gpu=gpu_id,
        valid_from__lte=at,
        confirmed_at__gte=since,
    )


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


def take_node(*, offer_id: int) -> None:
    """
    Take one free node of the offer.

    :raises NoFreeNode: if none is free
    """
    free = Offer.objects.filter(pk=offer_id, free_nodes__gt=0)
    if not free.update(free_nodes=F("free_nodes") - 1):
        raise NoFreeNode


def return_node(*, offer_id: int) -> None:
    """
    Give a taken node back; a node that the supplier has withdrawn stays withdrawn.
    """
    Offer.objects.filter(pk=offer_id).update(
        free_nodes=Least(F("free_nodes") + 1, F("nodes"))
    )


def set_nodes(*, offer_id: int, nodes: int) -> None:
    """
    Change how many nodes the offer has; those that are taken stay taken.
    """
    Offer.objects.filter(pk=offer_id).update(
        nodes=nodes,
        free_nodes=Greatest(0, Least(F("free_nodes") + nodes - F("nodes"), nodes)),
    )
