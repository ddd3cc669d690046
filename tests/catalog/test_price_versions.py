"""
The database's own rules: each is tried with SQL that no code of ours would send.
"""

from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from djmoney.money import Money

from catalog.models import OfferPrice


def refused(sql, *params):
    with (
        pytest.raises(IntegrityError),
        transaction.atomic(),
        connection.cursor() as cursor,
    ):
        cursor.execute(sql, params)
    return True


def add(offer, at, price="0.50"):
    return OfferPrice.objects.create(
        offer=offer,
        hourly_price=Money(price, "USD"),
        valid_from=at,
        confirmed_at=at,
        created_at=at,
    )


@pytest.mark.parametrize(
    "change",
    [
        "hourly_price = 9",
        "hourly_price_currency = 'EUR'",
        "valid_from = valid_from - interval '1 day'",
        "valid_to = valid_from + interval '1 day'",
        "created_at = created_at - interval '1 day'",
        "reason = 'changed'",
        "confirmed_at = confirmed_at - interval '1 second'",
    ],
)
def test_cannot_be_changed(offer, change):
    before = OfferPrice.objects.values().get()

    assert refused(f"UPDATE catalog_offerprice SET {change}")
    assert OfferPrice.objects.values().get() == before


def test_cannot_be_deleted(offer):
    assert refused("DELETE FROM catalog_offerprice")
    assert OfferPrice.objects.count() == 1


def test_can_only_be_confirmed_later(offer, now):
    later = now + timedelta(days=1)

    OfferPrice.objects.update(confirmed_at=later)

    assert OfferPrice.objects.get().confirmed_at == later


def test_end_where_the_next_one_starts(offer, now):
    first = offer.prices.get()
    third = add(offer, now + timedelta(days=2))
    second = add(offer, now + timedelta(days=1))

    periods = offer.prices.order_by("valid_from").values_list(
        "pk", "valid_from", "valid_to"
    )

    assert list(periods) == [
        (first.pk, now, now + timedelta(days=1)),
        (second.pk, now + timedelta(days=1), now + timedelta(days=2)),
        (third.pk, now + timedelta(days=2), None),
    ]


@pytest.mark.parametrize("price", ["0", "-0.10"])
def test_are_more_than_zero(offer, now, price):
    with pytest.raises(IntegrityError, match="offerprice_price_positive"):
        add(offer, now + timedelta(days=1), price=price)


def test_r13_start_only_once_at_a_moment(offer, now):
    with pytest.raises(IntegrityError, match="offerprice_unique_valid_from"):
        add(offer, now)


def test_are_in_a_currency_of_the_site(offer, now):
    assert refused(
        "INSERT INTO catalog_offerprice (offer_id, hourly_price, hourly_price_currency,"
        " valid_from, confirmed_at, created_at, reason)"
        " VALUES (%s, 1, 'JPY', %s, %s, %s, '')",
        offer.pk,
        now + timedelta(days=1),
        now,
        now,
    )


def test_keep_their_offer_from_being_deleted(offer):
    assert refused("SET CONSTRAINTS ALL IMMEDIATE; DELETE FROM catalog_offer")
    assert OfferPrice.objects.get().offer == offer
