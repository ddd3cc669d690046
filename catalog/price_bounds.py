"""
What speaks against a price: the past, a slip of the hand, a slip of the currency.
"""

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from statistics import median
from typing import Any

from django.db.models import Q
from django.utils.translation import gettext as _
from djmoney.money import Money

import formats
from catalog.models import OfferPrice
from money import round_half_up

MEDIAN_DAYS = 30
FARTHEST_FROM_MEDIAN = Decimal("0.6")
RATE_PLACES = 6


class PriceRefused(Exception):
    """
    A price cannot become a version of the offer's price; the message says why.
    """


class PriceNotMeant(PriceRefused):
    """
    A price is so unlikely that somebody has to give a reason for it.
    """


class PriceFarFromMedian(PriceNotMeant):
    """
    A price is far from what the GPU costs.
    """

    def __init__(self, *, median: Money) -> None:
        language = formats.language()
        super().__init__(
            _(
                "This is more than %(share)s away from %(median)s, the median of what"
                " was asked for this GPU in the last 30 days. If it is meant, confirm"
                " it with a reason."
            )
            % {
                "share": formats.percent(FARTHEST_FROM_MEDIAN, language),
                "median": formats.rate(median, language),
            }
        )
        self.median = median


@dataclass(frozen=True)
class Medians:
    """
    What suppliers asked for GPUs in the last 30 days: a median by GPU and currency.
    """

    amounts: Mapping[tuple[int, str], Decimal]
    gpu_ids: Collection[int]

    def of(self, *, gpu_id: int, currency: str) -> Decimal | None:
        """
        Return the GPU's median, None if nobody asked for it in this currency.
        """
        return self.amounts.get((gpu_id, currency))


def recent_medians(*, gpu_ids: Collection[int], at: datetime) -> Medians:
    """
    Return the medians of some GPUs, in one query.

    Every version that was valid on one of these days and confirmed since then counts
    once.
    """
    since = at - timedelta(days=MEDIAN_DAYS)
    versions = OfferPrice.objects.filter(
        Q(valid_to__isnull=True) | Q(valid_to__gt=since),
        offer__gpu__in=gpu_ids,
        valid_from__lte=at,
        confirmed_at__gte=since,
    )
    asked: dict[tuple[int, str], list[Decimal]] = defaultdict(list)
    rows: Any = versions.values_list(
        "offer__gpu", "hourly_price_currency", "hourly_price"
    )
    for gpu_id, currency, amount in rows:
        asked[gpu_id, currency].append(amount)
    return Medians(
        {key: median(amounts) for key, amounts in asked.items()},
        {gpu_id for gpu_id, _currency in asked},
    )


def check(
    price: Money,
    *,
    gpu_id: int,
    valid_from: datetime,
    medians: Medians,
    is_meant: bool,
    at: datetime,
) -> bool:
    """
    Say what speaks against a price, and return whether a second person approves it.

    :raises PriceRefused: if it is not positive or would change the past
    :raises PriceNotMeant: if it is far from the median, or the GPU's only one in its
        currency, and not meant
    """
    if round_half_up(price.amount, RATE_PLACES) <= 0:
        raise PriceRefused(_("A price is more than zero."))
    if valid_from < at:
        raise PriceRefused(
            _("A price cannot start in the past: what was charged then stays true.")
        )
    doubt = _doubt(price, gpu_id=gpu_id, medians=medians)
    if doubt and not is_meant:
        raise doubt
    return doubt is not None


def _doubt(price: Money, *, gpu_id: int, medians: Medians) -> PriceNotMeant | None:
    currency = price.currency.code
    middle = medians.of(gpu_id=gpu_id, currency=currency)
    if middle is not None:
        if abs(price.amount - middle) > middle * FARTHEST_FROM_MEDIAN:
            return PriceFarFromMedian(median=Money(middle, currency))
    # A slip of the currency must not be the way around the comparison.
    elif gpu_id in medians.gpu_ids:
        return PriceNotMeant(
            _(
                "Nobody asks for this GPU in %(currency)s, so there is nothing to"
                " compare the price with. If it is meant, confirm it with a reason."
            )
            % {"currency": currency}
        )
    return None
