from decimal import Decimal

import pytest
import time_machine
from djmoney.money import Money

from catalog.asks import Ask, Place
from catalog.gpu_list import Filters, Sort, list_gpus
from catalog.models import GpuModel
from catalog.value import price_per_gb, price_per_tbs
from tests.catalog.conftest import NOW
from tests.catalog.pages import tables_of, text_of

PARIS = Place(slug="paris", name="EU West", city="Paris")
OSLO = Place(slug="oslo", name="EU North", city="Oslo")


def gpu(pk, label, memory_gb, bandwidth_gbs, **changes):
    fields = {"architecture": "Ada", "vendor": "NVIDIA", **changes}
    memory = Decimal(memory_gb)
    return GpuModel(
        pk=pk,
        slug=label.lower(),
        label=label,
        memory_gb=memory,
        bandwidth_gbs=bandwidth_gbs,
        **fields,
    )


def ask(gpu_id, place, price, *, currency="USD", comparable=None):
    return Ask(
        offer_id=gpu_id,
        gpu_id=gpu_id,
        region=place,
        supplier="Acme",
        rate=Money(price, currency),
        comparable=Decimal(comparable or price),
        listed_at=NOW,
        as_of=NOW,
        is_stale=False,
        gpus_per_node=1,
        free_nodes=4,
    )


# Per GB 0.02, 0.015, 0.0125 and per TB/s 0.48, 1.20, 0.75; nobody offers the Old.
SMALL = gpu(1, "Small", 24, 1000)
MIDDLE = gpu(2, "Middle", 80, 1000, architecture="Hopper")
LARGE = gpu(3, "Large", 240, 4000, vendor="AMD", architecture="CDNA3")
OLD = gpu(4, "Old", 16, 300, architecture="Volta")
ALL = [OLD, LARGE, MIDDLE, SMALL]
ASKS = {
    1: [ask(1, PARIS, "0.48")],
    2: [ask(2, PARIS, "1.20"), ask(2, OSLO, "1.30")],
    3: [ask(3, OSLO, "3.00")],
}


def labels(sort=Sort.PRICE, **filters):
    found = list_gpus(ALL, asks=ASKS, filters=Filters(**filters), sort=sort)
    return [row.gpu.label for row in found.rows]


@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["Small", "Middle", "Large", "Old"]),
        ({"memory_from": Decimal(80)}, ["Middle", "Large"]),
        ({"memory_to": Decimal(24)}, ["Small", "Old"]),
        ({"architecture": "Hopper"}, ["Middle"]),
        ({"vendor": "AMD"}, ["Large"]),
        ({"region": "oslo"}, ["Middle", "Large"]),
        ({"price_to": Decimal("1.20")}, ["Small", "Middle"]),
        # In Oslo the Middle costs 1.30.
        ({"price_to": Decimal("1.20"), "region": "oslo"}, []),
        # 80 % of 24 GB at 2.5 bytes is 7.68: 7 billion; of 80 GB at 16 bytes 4.
        ({"size": ("lora", Decimal(7))}, ["Small", "Middle", "Large"]),
        ({"size": ("lora", Decimal(8))}, ["Middle", "Large"]),
        ({"size": ("full", Decimal(5))}, ["Large"]),
        ({"free": True}, ["Small", "Middle", "Large"]),
    ],
)
def test_keeps_what_passes(filters, expected):
    assert labels(**filters) == expected


@pytest.mark.parametrize(
    ("sort", "expected"),
    [
        (Sort.PRICE, ["Small", "Middle", "Large", "Old"]),
        (Sort.PER_GB, ["Large", "Middle", "Small", "Old"]),
        (Sort.PER_TBS, ["Small", "Large", "Middle", "Old"]),
        (Sort.MEMORY, ["Large", "Middle", "Small", "Old"]),
        (Sort.BANDWIDTH, ["Large", "Small", "Middle", "Old"]),
        (Sort.NAME, ["Large", "Middle", "Old", "Small"]),
    ],
)
def test_sorts_and_puts_what_nobody_offers_last(sort, expected):
    assert labels(sort) == expected


def test_compares_prices_in_one_currency():
    # 1.10 EUR are more than 1.20 USD at 1.15, though the number is smaller.
    asks = {**ASKS, 1: [ask(1, PARIS, "1.10", currency="EUR", comparable="1.265")]}

    listing = list_gpus(ALL, asks=asks, filters=Filters(price_to=Decimal("1.20")))
    every = list_gpus(ALL, asks=asks, filters=Filters())

    assert [row.gpu.label for row in listing.rows] == ["Middle"]
    assert [row.gpu.label for row in every.rows][:2] == ["Middle", "Small"]


def test_r17_says_which_filter_removes_how_many():
    # From 200 GB on there is one of four, up to 1 USD there is one of four as well.
    filters = Filters(memory_from=Decimal(200), price_to=Decimal(1), vendor="NVIDIA")

    listing = list_gpus(ALL, asks=ASKS, filters=filters)

    assert listing.rows == []
    assert [(each.name, each.alone, each.without) for each in listing.removals] == [
        ("memory_from", 3, 1),
        ("vendor", 1, 0),
        ("price_to", 3, 0),
    ]
    assert listing.is_one_to_blame


def test_divides_a_price_by_memory_and_bandwidth():
    # 0.33 / 24 = 0.01375, 0.33 / 1.008 = 0.3274
    card = gpu(9, "RTX 4090", 24, 1008)

    assert price_per_gb(Money("0.33", "USD"), card) == Money("0.0138", "USD")
    assert price_per_tbs(Money("0.33", "EUR"), card) == Money("0.33", "EUR")


@pytest.fixture
def _at_noon():
    with time_machine.travel(NOW, tick=False):
        yield


@pytest.mark.usefixtures("_at_noon")
def test_page_filters_sorts_and_keeps_its_state_in_the_address(catalog, client):
    page = client.get(
        "/gpus/?memory_from=48&memory_to=&price_to=0,6&free=on&sort=per-gb&method=lora"
    )

    # 0.33 and 0.54 over 48 GB are 0.0069 and 0.0113; nothing else is as cheap.
    rows = tables_of(page)[0]
    assert [row[0] for row in rows] == [
        "Compare RTX A6000 RTX A6000 Ampere",
        "Compare A40 A40 Ampere",
    ]
    assert rows[0][1:6] == ["$0.33", "48 GB", "768 GB/s", "$0.0069", "$0.43"]
    assert rows[0][-1] == "Frankfurt 6 nodes free EverXCloud, as of Nov 30, 2026", "R11"
    text = text_of(page)
    assert "2 of 32 GPUs." in text
    assert "Sorted by: Price per GB of memory." in text, "R15"
    source = page.content.decode().replace("&amp;", "&")
    assert 'href="/gpus/?price_to=0%2C6&free=on&sort=per-gb"' in source
    assert page["HX-Push-Url"] == (
        "/gpus/?memory_from=48&price_to=0%2C6&free=on&sort=per-gb"
    )


@pytest.mark.usefixtures("_at_noon")
def test_page_with_no_result_offers_to_drop_each_filter(catalog, client):
    page = client.get("/gpus/?vendor=AMD&price_to=1", headers={"HX-Request": "true"})

    # Four of 32 are AMD's, the cheapest asks 1.35 USD; up to 1 USD there are 14.
    text = text_of(page)
    assert "No GPU passes all filters" in text, "R17"
    assert "Vendor: AMD rules out 28 of 32; without it 14 would be shown" in text
    assert "Price up to: 1 USD/h rules out 18 of 32; without it 4 would" in text
    source = page.content.decode()
    assert 'href="/gpus/?price_to=1"' in source
    assert 'href="/gpus/?vendor=AMD"' in source
    assert "<html" not in source, "htmx gets the fragment only"


@pytest.mark.usefixtures("_at_noon")
def test_page_explains_a_filter_it_does_not_understand(catalog, client):
    page = client.get("/gpus/?memory_from=much&vendor=Acme&sort=luck")

    text = text_of(page)
    assert "Write a number like 0.5 or 0,5, without other marks." in text
    assert text.count("This is not on the list: choose again.") == 2
    assert len(tables_of(page)[0]) == 32


@pytest.mark.usefixtures("_at_noon")
def test_page_has_every_gpu_with_low_stock_and_what_nobody_offers(catalog, client):
    rows = {row[0]: row for row in tables_of(client.get("/gpus/"))[0]}

    assert len(rows) == 32
    assert [row[1] for row in rows.values()][-4:] == ["no live ask"] * 4
    assert next(iter(rows)) == "Compare RTX 4090 RTX 4090 Ada Lovelace"
    assert rows["Compare RTX A5000 RTX A5000 Ampere"][-1] == (
        "Paris $0.37 6 nodes free Demo Compute (demo), as of Nov 30, 2026"
        " Frankfurt $0.38 2 nodes left Demo Compute (demo), as of Nov 30, 2026"
    ), "R23"
    assert rows["Compare A16 A16 Ampere"][1] == "no live ask"
