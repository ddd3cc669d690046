from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine
from django.db import IntegrityError, transaction

from catalog.demo_prices import REASON, invent_past_prices
from catalog.models import OfferPrice
from catalog.price_history import read_history
from tests.catalog.pages import text_of


@pytest.fixture
def demo_offers(make_offer, supplier):
    supplier.is_demo = True
    supplier.save()
    return [make_offer(), make_offer(gpus_per_node=8, price="0.44")]


def invent(now):
    return invent_past_prices(supplier_slug="acme", at=now)


def test_gives_each_offer_a_year_without_gaps(demo_offers, now):
    assert invent(now) == 40

    offer = demo_offers[0]
    versions = list(offer.prices.order_by("valid_from"))
    assert len(versions) == 21
    assert versions[0].valid_from == now - timedelta(days=360)
    assert [one.valid_to for one in versions] == [
        *(one.valid_from for one in versions[1:]),
        None,
    ]
    assert offer.hourly_price(now).amount == Decimal("0.40")
    # At most a fifth more a year ago, and a twentieth either way.
    amounts = [one.hourly_price.amount for one in versions]
    assert all(Decimal("0.38") <= amount <= Decimal("0.50") for amount in amounts)
    assert len(set(amounts)) > 5


def test_fills_a_chart_with_a_band(demo_offers, gpu, region, now):
    invent(now)

    found = read_history(gpu_id=gpu.pk, region_id=region.pk, days=365, at=now)

    figures = [point.figures for point in found.points if point.figures]
    assert len(figures) > 350
    assert sum(each.low < each.high for each in figures) > 300


def test_adds_nothing_twice(demo_offers, now):
    invent(now)

    assert invent(now + timedelta(days=1)) == 0


def test_invents_nothing_for_a_real_supplier(make_offer, now):
    make_offer()

    assert invent(now) == 0
    assert OfferPrice.objects.count() == 1


def test_is_never_changed_and_says_what_it_is(demo_offers, client, gpu, now):
    invent(now)
    past = OfferPrice.objects.filter(reason=REASON)

    with pytest.raises(IntegrityError), transaction.atomic():
        past.update(reason="")
    with time_machine.travel(now, tick=False):
        text = text_of(client.get(f"/gpus/{gpu.slug}/"))

    # Of the twenty newest versions two are what is asked now.
    assert text.count("Acme Invented for the demo") == 18
    assert "The past prices of demo suppliers are invented." in text
