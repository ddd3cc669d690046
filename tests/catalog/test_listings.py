"""
A verified supplier lists RTX 4090 nodes in Paris. EverXCloud asks 0.33 for that GPU
and GPURento 0.34, so the median of the last 30 days is 0.34 at most.
"""

from dataclasses import replace
from decimal import Decimal

import pytest
from djmoney.money import Money

from catalog import services
from catalog.models import GpuModel, Listing, Offer, OfferPrice, Region, Supplier
from tests.workspaces.conftest import DAY, HOUR, NOON, catalog  # noqa: F401


def usd(amount):
    return Money(Decimal(amount), "USD")


@pytest.fixture
def supplier(catalog):  # noqa: F811
    return Supplier.objects.create(slug="nordlicht", name="Nordlicht", is_verified=True)


@pytest.fixture
def wanted(supplier):
    return services.Nodes(
        gpu_id=GpuModel.objects.get(slug="rtx-4090").pk,
        region_id=Region.objects.get(slug="eu-west-paris").pk,
        gpus_per_node=1,
        nodes=3,
        cpu_cores=16,
        ram_gb=64,
        disk_gb=1000,
        network_gbps=Decimal("2.5"),
        cuda_version="12.8",
        ask=usd("0.35"),
        floor=Decimal("0.30"),
        available_until=None,
    )


@pytest.fixture
def list_nodes(supplier, wanted):
    def listed(at=NOON, **changes):
        return services.list_nodes(
            supplier_id=supplier.pk,
            wanted=replace(wanted, **changes),
            actor=None,
            at=at,
        )

    return listed


def is_live(offer, at=NOON):
    return Offer.objects.live(at).filter(pk=offer.pk).exists()


def asks_of(offer):
    prices = OfferPrice.objects.filter(offer=offer).order_by("valid_from")
    return [price.hourly_price.amount for price in prices]


def test_a_verified_supplier_is_on_the_list_at_once(list_nodes):
    offer = list_nodes()

    assert is_live(offer)
    assert (offer.nodes, offer.free_nodes) == (3, 3)
    assert offer.hourly_price(NOON) == usd("0.35")
    assert offer.listing.floor == usd("0.30")


def test_who_is_not_verified_yet_is_on_the_list_once_verified(list_nodes, supplier):
    Supplier.objects.update(is_verified=False)
    offer = list_nodes()
    paused = list_nodes(gpus_per_node=8)
    services.pause_nodes(offer_id=paused.pk, at=NOON)
    assert not is_live(offer)

    services.verify_supplier(supplier_id=supplier.pk, at=NOON + DAY)

    assert is_live(offer, NOON + DAY)
    assert not is_live(paused, NOON + DAY)
    # Of equal asks, those that others could take before are older.
    assert Offer.objects.get(pk=offer.pk).listed_at == NOON + DAY


def test_a_suspended_supplier_leaves_the_list(list_nodes, supplier):
    offer = list_nodes()

    services.suspend_supplier(supplier_id=supplier.pk)

    assert not is_live(offer)


def test_r13_the_same_nodes_are_listed_once(list_nodes):
    list_nodes()

    with pytest.raises(services.NodeListed):
        list_nodes(at=NOON + HOUR, ask=usd("0.36"))

    assert (
        Listing.objects.count()
        == OfferPrice.objects.filter(offer__listing__isnull=False).count()
        == 1
    )


@pytest.mark.parametrize(
    ("ask", "refusal"),
    [
        ("0.29", services.BelowFloor),
        ("0.90", services.AskNeedsStaff),
        ("0.10", services.BelowFloor),
    ],
)
def test_refuses_an_ask_that_is_a_slip(list_nodes, ask, refusal):
    with pytest.raises(refusal):
        list_nodes(ask=usd(ask))

    assert not Listing.objects.exists()


def test_r54_a_slip_of_the_currency_is_no_way_around_the_comparison(list_nodes):
    with pytest.raises(services.AskNeedsStaff):
        list_nodes(ask=Money("0.35", "GBP"), floor=None)


def test_r20_paused_nodes_cannot_be_reserved(list_nodes):
    offer = list_nodes()

    services.pause_nodes(offer_id=offer.pk, at=NOON)
    assert not is_live(offer)

    services.resume_nodes(offer_id=offer.pk, at=NOON + HOUR)
    assert is_live(offer, NOON + HOUR)
    assert Offer.objects.get(pk=offer.pk).listed_at == NOON + HOUR


def test_a_new_ask_is_a_new_version_and_the_same_one_is_confirmed(list_nodes, wanted):
    offer = list_nodes()

    for hours, ask in [(1, "0.35"), (2, "0.34")]:
        services.change_nodes(
            offer_id=offer.pk,
            wanted=replace(wanted, ask=usd(ask)),
            actor=None,
            at=NOON + hours * HOUR,
        )

    assert asks_of(offer) == [Decimal("0.35"), Decimal("0.34")]
    assert offer.prices.get(hourly_price=usd("0.35")).confirmed_at == NOON + HOUR


def test_a_floor_above_the_ask_is_refused(list_nodes, wanted):
    offer = list_nodes()

    with pytest.raises(services.BelowFloor):
        services.change_nodes(
            offer_id=offer.pk,
            wanted=replace(wanted, floor=Decimal("0.36")),
            actor=None,
            at=NOON + HOUR,
        )

    assert Listing.objects.get().floor_amount == Decimal("0.30")


def test_removed_nodes_come_back_as_the_same_offer(list_nodes):
    offer = list_nodes()
    services.remove_nodes(offer_id=offer.pk, at=NOON)
    assert not is_live(offer)
    services.resume_nodes(offer_id=offer.pk, at=NOON)
    assert not is_live(offer)

    again = list_nodes(at=NOON + DAY, nodes=2)

    assert again.pk == offer.pk
    assert is_live(again, NOON + DAY)
    assert Offer.objects.get(pk=offer.pk).free_nodes == 2
