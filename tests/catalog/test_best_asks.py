import random
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from itertools import product

import pytest
from djmoney.money import Money

from billing.services import convert
from catalog import exchange
from catalog.asks import ask_of, rows_of
from catalog.best_asks import best_asks, best_asks_of
from catalog.models import GpuModel, Offer, OfferPrice, Region, Supplier
from catalog.templatetags.asks import places
from money import round_half_up
from tests.catalog.conftest import make_gpu


def other_region():
    return Region.objects.create(slug="b", name="B", city="Bergen", country="NO")


def other_supplier():
    return Supplier.objects.create(slug="other", name="Other")


def test_are_the_cheapest_of_each_region_the_cheapest_region_first(
    make_offer, gpu, now
):
    make_offer(price="0.40")
    make_offer(price="0.35", supplier=other_supplier())
    make_offer(price="0.30", region=other_region())

    asks = best_asks(at=now)[gpu.pk]

    assert [(ask.rate, ask.region.city, ask.supplier) for ask in asks] == [
        (Money("0.30", "USD"), "Bergen", "Acme"),
        (Money("0.35", "USD"), "Oslo", "Other"),
    ]


def test_count_all_free_nodes_of_the_region(make_offer, gpu, now):
    make_offer(free_nodes=1)
    make_offer(free_nodes=2, supplier=other_supplier(), price="0.50")

    (ask,) = best_asks(at=now)[gpu.pk]

    assert (ask.free_nodes, ask.is_few) == (3, False)


def test_say_when_two_or_fewer_are_left(make_offer, gpu, now):
    make_offer(free_nodes=2)

    (ask,) = best_asks(at=now)[gpu.pk]

    assert ask.is_free
    assert ask.is_few


def test_leave_larger_nodes_out(make_offer, gpu, now):
    make_offer(price="0.40")
    make_offer(price="0.10", gpus_per_node=8)

    assert best_asks(at=now)[gpu.pk][0].rate == Money("0.40", "USD")
    assert best_asks(at=now, gpus=8)[gpu.pk][0].rate == Money("0.10", "USD")


def test_have_nothing_for_a_gpu_that_nobody_offers(make_offer, gpu, now):
    make_offer(free_nodes=0)

    assert best_asks(at=now) == {}
    assert GpuModel.objects.filter(pk=gpu.pk).exists()


def test_all_asks_put_the_stale_ones_last(make_offer, now):
    make_offer(price="0.10", confirmed_at=now - timedelta(days=31))
    make_offer(price="0.40", supplier=other_supplier())
    make_offer(price=None, gpus_per_node=2)

    asks = asks_of(Offer.objects.all(), at=now)

    assert [(ask.rate.amount, ask.is_stale) for ask in asks] == [
        (Money("0.40", "USD").amount, False),
        (Money("0.10", "USD").amount, True),
    ]


def test_compare_currencies_at_the_day_rate(make_offer, gpu, now, day_rates):
    # 0.38 EUR are 0.4446 USD and 0.36 GBP are 0.486 USD, so 0.45 USD lie between.
    day_rates("2026-11-27", USD="1.17", GBP="0.866667")
    make_offer(price="0.36", currency="GBP")
    make_offer(price="0.45", supplier=other_supplier())
    make_offer(price="0.38", currency="EUR", gpus_per_node=2)

    (ask,) = best_asks(at=now, gpus=None)[gpu.pk]
    everything = asks_of(Offer.objects.all(), at=now)

    assert ask.rate == Money("0.38", "EUR")
    assert [str(ask.rate.currency) for ask in everything] == ["EUR", "USD", "GBP"]


def test_sort_currencies_as_billing_converts_them(make_offer, now, day_rates):
    day_rates("2026-11-27", USD="1.171953", GBP="0.873217")
    for number, (price, currency) in enumerate(
        [("0.333333", "GBP"), ("0.381773", "EUR"), ("0.447414", "USD")], start=1
    ):
        make_offer(price=price, currency=currency, gpus_per_node=number)

    for ask in asks_of(Offer.objects.all(), at=now):
        converted = convert(amount=ask.rate, currency="USD", at=now)
        assert round_half_up(ask.comparable, 6) == converted.amount.amount


def test_compare_at_the_newest_rates_of_the_moment(make_offer, gpu, now, day_rates):
    day_rates("2026-11-26", USD="1.50", GBP="0.9")
    day_rates("2026-11-30", USD="1.10", GBP="0.9")
    day_rates("2026-12-01", USD="2.00", GBP="0.9")
    make_offer(price="0.40", currency="EUR", confirmed_at=now - timedelta(days=4))
    make_offer(price="0.45", gpus_per_node=2, confirmed_at=now - timedelta(days=4))

    def best(at):
        return best_asks(at=at, gpus=None)[gpu.pk][0].rate

    assert best(now) == Money("0.40", "EUR"), "0.44 USD on November 30"
    assert best(now - timedelta(days=1)) == Money("0.45", "USD"), "0.60 USD before"


def test_put_what_no_rate_is_known_for_last(make_offer, gpu, now):
    make_offer(price="0.30", currency="EUR")
    make_offer(price="0.45", supplier=other_supplier())

    assert best_asks(at=now)[gpu.pk][0].rate == Money("0.45", "USD")
    assert exchange.rates(at=now) == {"USD": 1}


def test_the_rates_of_a_day_in_the_currency_of_comparison(day_rates, now):
    day_rates("2026-11-27", USD="1.17", GBP="0.9")

    assert exchange.rates(at=now) == {
        "EUR": Decimal("1.17"),
        "USD": Decimal(1),
        "GBP": Decimal("1.3"),
    }
    assert exchange.rates(at=now, into="GBP") == {
        "EUR": Decimal("0.9"),
        "USD": Decimal("0.769231"),
        "GBP": Decimal(1),
    }


def test_of_every_size_count_the_nodes_of_every_size(make_offer, gpu, now):
    make_offer(free_nodes=1)
    make_offer(free_nodes=2, gpus_per_node=8, price="0.30")

    (ask,) = best_asks(at=now, gpus=None)[gpu.pk]

    assert (ask.gpus_per_node, ask.free_nodes) == (8, 3)


def test_of_one_gpu_are_those_among_all(catalog, now):
    everything = best_asks(at=now)

    for gpu in GpuModel.objects.all():
        found = best_asks_of(gpu_id=gpu.pk, at=now)
        assert found == everything.get(gpu.pk, [])
    assert len(everything) > 1


def asks_of(offers, *, at):
    return [ask_of(row) for row in rows_of(offers, at=at)]


def crowd_of(make_offer, now):
    """
    Offers that differ in all that decides whether one is live and which is first.
    """
    chance = random.Random(20261201)
    suppliers = [Supplier.objects.create(slug=f"s{n}", name=f"S{n}") for n in range(12)]
    gpus = [GpuModel.objects.get(), make_gpu(slug="other", name="Other", label="O")]
    regions = [Region.objects.get(), other_region()]
    for supplier, gpu, region, size in product(suppliers, gpus, regions, [1, 8]):
        offer = make_offer(
            supplier=supplier,
            gpu=gpu,
            region=region,
            gpus_per_node=size,
            price=chance.choice([None, "0.30", "0.30", "0.31", "0.45"]),
            currency=chance.choice(["USD", "USD", "EUR", "GBP"]),
            confirmed_at=now - timedelta(days=chance.choice([2, 30, 31])),
            free_nodes=chance.randrange(4),
            is_listed=chance.random() < 0.9,
            available_until=chance.choice([None, None, now, now + timedelta(hours=2)]),
            listed_at=now - timedelta(days=chance.choice([1, 1, 9])),
        )
        if chance.random() < 0.4:
            starts = now + timedelta(days=chance.choice([-1, 0, 1]))
            OfferPrice.objects.create(
                offer=offer,
                hourly_price=Money(chance.choice(["0.20", "0.50"]), "USD"),
                valid_from=starts,
                confirmed_at=max(starts, now),
                created_at=now - timedelta(days=2),
            )


def first_and_free(offers):
    """
    Return, by GPU and region, the first offer as the order says it, and all free nodes.
    """
    free = Counter()
    for offer in offers:
        free[offer.gpu_id, offer.region_id] += offer.free_nodes
    firsts = offers.cheapest_per("gpu", "region")
    return {
        offer.pk: (
            offer.price_id,
            offer.comparable_amount,
            free[offer.gpu_id, offer.region_id],
        )
        for offer in firsts
    }


@pytest.mark.parametrize("gpus", [1, 8, None])
@pytest.mark.parametrize(
    "rates", [{}, {"USD": "1.17", "GBP": "0.9"}], ids=["no rates", "rates"]
)
def test_are_the_first_of_all_live_offers(make_offer, now, day_rates, gpus, rates):
    if rates:
        day_rates("2026-11-27", **rates)
    crowd_of(make_offer, now)

    for days in (-1, 0, 1, 2):
        at = now + timedelta(days=days, minutes=1)
        live = Offer.objects.live(at)
        expected = first_and_free(live.of_size(gpus) if gpus else live)
        found = [ask for asks in best_asks(at=at, gpus=gpus).values() for ask in asks]
        versions = {
            ask.offer_id: OfferPrice.objects.valid(at).get(offer=ask.offer_id)
            for ask in found
        }
        assert {
            ask.offer_id: (versions[ask.offer_id].pk, ask.comparable, ask.free_nodes)
            for ask in found
        } == expected
        assert all(ask.rate == versions[ask.offer_id].hourly_price for ask in found)
        assert len(expected) >= 3


def test_names_in_a_list_of_asks_run_nothing(make_offer, gpu, now):
    runs = "<svg onload=1>"
    make_offer()
    Supplier.objects.update(name=runs)
    Region.objects.update(city=runs)

    shown = places(best_asks(at=now)[gpu.pk])

    assert "<svg" not in shown
    # The city in the summary, then the city and the supplier in the line.
    assert shown.count("&lt;svg onload=1&gt;") == 3
