from datetime import timedelta
from decimal import Decimal

import pytest
from djmoney.money import Money

from billing.services import convert
from catalog import exchange
from catalog.asks import asks_of, best_asks, best_of
from catalog.models import GpuModel, Offer, Region, Supplier
from catalog.services import confirm_prices_of
from catalog.templatetags.asks import places
from money import round_half_up


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


@pytest.mark.parametrize("gpus", [1, 8])
def test_of_one_gpu_are_the_same_without_asking_again(catalog, make_offer, now, gpus):
    Offer.objects.filter(supplier__slug="gpurento").update(free_nodes=1)
    confirm_prices_of(supplier_slug="gpurento", at=now)
    everything = best_asks(at=now, gpus=gpus)

    for gpu in GpuModel.objects.all():
        asks = asks_of(Offer.objects.filter(gpu=gpu).listed(now), at=now)
        assert best_of(asks, gpus=gpus) == everything.get(gpu.pk, [])


def test_names_in_a_list_of_asks_run_nothing(make_offer, gpu, now):
    runs = "<svg onload=1>"
    make_offer()
    Supplier.objects.update(name=runs)
    Region.objects.update(city=runs)

    shown = places(best_asks(at=now)[gpu.pk])

    assert "<svg" not in shown
    # The city in the summary, then the city and the supplier in the line.
    assert shown.count("&lt;svg onload=1&gt;") == 3
