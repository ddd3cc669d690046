from datetime import timedelta
from decimal import Decimal

import pytest
from djmoney.money import Money

from catalog.models import Offer, OfferPrice, Region
from catalog.services import (
    PriceFarFromMedian,
    PriceRefused,
    check_price,
    confirm_price,
    confirm_prices_of,
    median_price,
    set_price,
)
from marketplace.models import User


@pytest.fixture
def staff(db):
    return User.objects.create_user("staff@example.com", is_staff=True)


@pytest.fixture
def change(offer, staff, now):
    def change(price, **changes):
        values = {
            "offer_id": offer.pk,
            "hourly_price": Money(price, "USD"),
            "valid_from": now + timedelta(hours=1),
            "actor": staff,
            "at": now + timedelta(hours=1),
            **changes,
        }
        return set_price(**values)

    return change


def test_adds_a_version_and_keeps_the_old_one(offer, change, staff, now):
    new = change("0.45", reason=" Power got dearer. ")

    later = now + timedelta(hours=1)
    assert offer.hourly_price(later) == Money("0.45", "USD")
    assert offer.hourly_price(later - timedelta(seconds=1)) == Money("0.40", "USD")
    assert new.created_by == staff
    assert new.created_at == new.confirmed_at == later
    assert new.reason == "Power got dearer."
    assert offer.prices.count() == 2


def test_schedules_a_price(offer, change, now):
    change("0.45", valid_from=now + timedelta(days=3))

    assert offer.hourly_price(now + timedelta(days=2)) == Money("0.40", "USD")
    assert offer.hourly_price(now + timedelta(days=3)) == Money("0.45", "USD")


def test_keeps_six_decimals_rounded_half_up(offer, change, now):
    change("0.3333335")

    assert offer.hourly_price(now + timedelta(hours=1)).amount == Decimal("0.333334")


@pytest.mark.parametrize(
    ("price", "shift"),
    [
        pytest.param("0", timedelta(), id="zero"),
        pytest.param("-0.40", timedelta(), id="negative"),
        pytest.param("0.0000004", timedelta(), id="rounds to zero"),
        pytest.param("0.45", timedelta(seconds=-1), id="M82 would change the past"),
    ],
)
def test_refuses(offer, change, now, price, shift):
    with pytest.raises(PriceRefused):
        change(price, valid_from=now + timedelta(hours=1) + shift)

    assert offer.prices.count() == 1


def test_refuses_a_second_price_from_the_same_moment(offer, change):
    change("0.45")

    with pytest.raises(PriceRefused, match="exists already"):
        change("0.46")

    assert offer.prices.count() == 2


# The only price of the GPU is 0.40: 60 % off is 0.16 to 0.64.
@pytest.mark.parametrize("price", ["0.16", "0.64"])
def test_accepts_sixty_percent_off_the_median(offer, change, price):
    change(price)

    assert offer.prices.count() == 2


@pytest.mark.parametrize("price", ["0.159999", "0.640001", "40"])
@pytest.mark.parametrize(
    "excuse",
    [
        {},
        {"reason": "meant"},
        {"is_confirmed": True},
        {"is_confirmed": True, "reason": "  "},
    ],
)
def test_r10_refuses_more_than_that_unless_confirmed_with_a_reason(
    offer, now, price, excuse
):
    with pytest.raises(PriceFarFromMedian) as caught:
        check(offer, price, now, **excuse)

    assert caught.value.median == Money("0.40", "USD")


def check(offer, price, now, **excuse):
    return check_price(
        gpu_id=offer.gpu_id,
        hourly_price=Money(price, "USD"),
        valid_from=now,
        at=now,
        **excuse,
    )


def test_with_both_a_second_person_has_to_approve_it(offer, change, now):
    excuse = {"is_confirmed": True, "reason": "A new contract."}

    assert check(offer, "4.00", now, **excuse)
    assert not check(offer, "0.45", now, **excuse)
    with pytest.raises(PriceFarFromMedian):
        change("4.00", reason="A new contract.")
    assert offer.prices.count() == 1


def test_has_no_bound_without_prices_to_compare(make_offer, change, now):
    OfferPrice.objects.update(confirmed_at=now)
    long_after = now + timedelta(days=31)

    change("99", valid_from=long_after, at=long_after)

    assert OfferPrice.objects.count() == 2


def test_a_slip_of_the_currency_is_no_way_around_the_bound(offer, change):
    with pytest.raises(PriceRefused, match="Nobody asks for this GPU in EUR"):
        change("40", hourly_price=Money("40", "EUR"))

    assert offer.prices.count() == 1


def test_median_counts_what_was_asked_in_the_last_thirty_days(make_offer, gpu, now):
    places = [
        Region.objects.create(slug=name, name=name, city=name, country="FR")
        for name in "abcd"
    ]
    make_offer(region=places[0], price="0.30")
    make_offer(region=places[1], price="0.50", gpus_per_node=8)
    make_offer(region=places[2], price="0.70", is_listed=False)
    make_offer(region=places[3], price="9.00", confirmed_at=now - timedelta(days=31))

    def median(currency="USD", at=now):
        return median_price(gpu_id=gpu.pk, currency=currency, at=at)

    assert median() == Decimal("0.50")
    assert median("EUR") is None
    assert median(at=now - timedelta(days=2)) == Decimal("9.00")


def test_median_of_an_even_number_is_between(make_offer, gpu, region, now):
    make_offer(price="0.30")
    make_offer(price="0.45", gpus_per_node=2)

    assert median_price(gpu_id=gpu.pk, currency="USD", at=now) == Decimal("0.375")


def test_confirming_makes_a_stale_price_live_again(make_offer, now):
    offer = make_offer(confirmed_at=now - timedelta(days=40))

    price = confirm_price(offer_id=offer.pk, at=now)

    assert price.confirmed_at == now
    assert Offer.objects.live(now).get() == offer
    assert offer.prices.count() == 1


def test_confirming_never_goes_back(offer, now):
    with pytest.raises(OfferPrice.DoesNotExist):
        confirm_price(offer_id=offer.pk, at=now - timedelta(days=1))

    assert confirm_price(offer_id=offer.pk, at=now).confirmed_at == now


def test_confirming_a_suppliers_prices_leaves_those_of_others(catalog, now):
    later = now + timedelta(days=31)

    count = confirm_prices_of(supplier_slug="everxcloud", at=later)

    assert count == 9
    suppliers = Offer.objects.live(later).values_list("supplier__slug", flat=True)
    assert set(suppliers) == {"everxcloud"}
    assert confirm_prices_of(supplier_slug="everxcloud", at=later) == 0
