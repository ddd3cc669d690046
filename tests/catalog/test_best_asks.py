from datetime import timedelta

from djmoney.money import Money

from catalog.asks import asks_of, best_asks
from catalog.models import GpuModel, Offer, Region, Supplier


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
