"""
Invents what a demo supplier asked in the past year, so that charts have something to
draw.

Only a supplier that is marked as invented gets such a past; each version says so in
its reason. They are added before the first real version, which stays the first that
anybody could rent at.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from hashlib import sha256

from django.db import transaction
from djmoney.money import Money

from catalog.models import OfferPrice
from money import round_half_up

REASON = "Invented for the demo"
STEP = timedelta(days=18)
STEPS = 20
# A year ago GPUs cost more; besides, each price moves by this much either way.
DEARER_A_YEAR_AGO = Decimal("0.20")
SWING = Decimal("0.05")


@transaction.atomic
def invent_past_prices(*, supplier_slug: str, at: datetime) -> int:
    """
    Add a year of past prices to each offer that has none, and return how many.

    Nothing is added for a supplier that is not marked as a demo.
    """
    firsts = (
        OfferPrice.objects.filter(
            offer__supplier__slug=supplier_slug, offer__supplier__is_demo=True
        )
        .exclude(offer__prices__reason=REASON)
        .select_related("offer__gpu", "offer__region")
        .order_by("offer", "valid_from")
        .distinct("offer")
    )
    known = list(firsts)
    # One version of each offer at a time: the next one ends the one before.
    added = [
        OfferPrice.objects.bulk_create(_past(first, age, at=at) for first in known)
        for age in range(STEPS, 0, -1)
    ]
    return sum(len(versions) for versions in added)


def _past(first: OfferPrice, age: int, *, at: datetime) -> OfferPrice:
    since = first.valid_from - age * STEP
    return OfferPrice(
        offer=first.offer,
        hourly_price=_price(first, age),
        valid_from=since,
        confirmed_at=since,
        created_at=at,
        reason=REASON,
    )


def _price(first: OfferPrice, age: int) -> Money:
    """
    Return the price `age` steps ago: the same at every start, for every machine.
    """
    offer = first.offer
    name = f"{offer.gpu.slug} {offer.region.slug} {offer.gpus_per_node} {age}"
    # A number from -1 to 1 that looks like chance.
    chance = Decimal(sha256(name.encode()).digest()[0]) / Decimal("127.5") - 1
    share = 1 + DEARER_A_YEAR_AGO * age / STEPS + SWING * chance
    amount = first.hourly_price.amount * share
    return Money(round_half_up(amount), first.hourly_price.currency)
