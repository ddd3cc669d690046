from datetime import timedelta
from decimal import Decimal

import pytest
from djmoney.money import Money

from catalog.models import GpuModel, Offer, OfferPrice, Region, Supplier


def is_live(offer, at):
    return Offer.objects.live(at).filter(pk=offer.pk).exists()


def test_are_those_with_a_free_node_and_a_price_that_is_true(offer, now):
    assert is_live(offer, now)


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"is_listed": False}, id="not listed"),
        pytest.param({"free_nodes": 0}, id="R20 no free node"),
        pytest.param({"price": None}, id="no price"),
    ],
)
def test_leave_out(make_offer, now, changes):
    assert not is_live(make_offer(**changes), now)


def test_leave_out_an_offer_from_the_moment_it_ends(make_offer, now):
    offer = make_offer(available_until=now)

    assert not is_live(offer, now)
    assert is_live(offer, now - timedelta(seconds=1)) is False, "no price yet"
    offer.available_until = now + timedelta(seconds=1)
    offer.save(update_fields=["available_until"])
    assert is_live(offer, now)


def test_leave_out_a_price_that_nobody_confirmed_for_thirty_days(make_offer, now):
    offer = make_offer(confirmed_at=now - timedelta(days=30))

    assert is_live(offer, now)
    assert not is_live(offer, now + timedelta(seconds=1)), "R11"


def test_stale_days_are_a_setting(make_offer, now, settings):
    settings.PRICE_STALE_DAYS = 7
    offer = make_offer(confirmed_at=now - timedelta(days=8))

    assert not is_live(offer, now)


def test_a_scheduled_price_is_not_valid_before_its_start(make_offer, now):
    offer = make_offer(price=None)
    OfferPrice.objects.create(
        offer=offer,
        hourly_price=Money("0.50", "USD"),
        valid_from=now + timedelta(hours=1),
        confirmed_at=now,
        created_at=now,
    )

    assert not is_live(offer, now)
    assert is_live(offer, now + timedelta(hours=1))


def test_with_price_tells_amount_currency_and_age(make_offer, now):
    offer = make_offer(price="0.345678", confirmed_at=now - timedelta(days=31))

    found = Offer.objects.with_price(now).get(pk=offer.pk)

    assert found.hourly_amount == Decimal("0.345678")
    assert found.hourly_currency == "USD"
    assert found.price_id == offer.prices.get().pk
    assert found.price_as_of == now - timedelta(days=31)
    assert found.is_stale is True


def test_with_price_keeps_offers_without_one(make_offer, now):
    offer = make_offer(price=None)

    found = Offer.objects.with_price(now).get(pk=offer.pk)

    assert found.price_id is None
    assert found.hourly_amount is None


def test_with_price_gives_one_row_for_many_versions(offer, now):
    for days in (1, 2, 3):
        OfferPrice.objects.create(
            offer=offer,
            hourly_price=Money(days, "USD"),
            valid_from=now + timedelta(days=days),
            confirmed_at=now,
            created_at=now,
        )

    found = Offer.objects.with_price(now + timedelta(days=2))

    assert [row.hourly_amount for row in found] == [Decimal(2)]


def test_cheapest_come_first_and_of_equals_the_older(make_offer, now):
    places = [
        Region.objects.create(slug=name, name=name, city=name, country="FR")
        for name in ("a", "b", "c")
    ]
    young = make_offer(price="0.30", region=places[0])
    old = make_offer(
        price="0.30", region=places[1], listed_at=now - timedelta(seconds=1)
    )
    cheap = make_offer(price="0.299999", region=places[2])

    found = list(Offer.objects.live(now).cheapest_first())

    assert found == [cheap, old, young], "R15"


def test_hourly_price_is_that_of_the_moment(offer, now):
    later = now + timedelta(hours=1)
    OfferPrice.objects.create(
        offer=offer,
        hourly_price=Money("0.60", "USD"),
        valid_from=later,
        confirmed_at=now,
        created_at=now,
    )

    assert offer.hourly_price(later - timedelta(microseconds=1)) == Money("0.40", "USD")
    assert offer.hourly_price(later) == Money("0.60", "USD")
    with pytest.raises(OfferPrice.DoesNotExist):
        offer.hourly_price(now - timedelta(seconds=1))


def test_the_seed_table_has_its_nine_from_prices(catalog, now):
    expected = {
        "RTX 4090": "0.33",
        "RTX 5090": "0.69",
        "RTX A6000": "0.33",
        "L40S": "0.79",
        "RTX 6000 Ada": "0.74",
        "A100 SXM": "1.79",
        "H100 SXM": "2.88",
        "RTX PRO 6000 Blackwell": "1.69",
        "H200": "4.19",
    }
    live = Offer.objects.live(now).cheapest_first().select_related("gpu")

    for label, price in expected.items():
        best = live.filter(gpu__label=label).first()
        assert best.hourly_amount == Decimal(price), label
    assert live.first().hourly_amount == Decimal("0.33")


def test_nothing_of_the_demo_supplier_undercuts_the_nine(catalog, now):
    nine = GpuModel.objects.filter(offers__supplier__slug="everxcloud")
    demo = Offer.objects.with_price(now).filter(
        supplier=Supplier.objects.get(is_demo=True)
    )

    assert not demo.filter(gpu__in=nine).exists()
    assert not demo.filter(hourly_amount__lte=Decimal("0.33")).exists()
