from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from django.core.management import call_command
from django.db.models import Count
from djmoney.money import Money

from catalog.models import (
    BaseModel,
    GpuModel,
    Image,
    Offer,
    OfferPrice,
    Region,
    StoragePlan,
    Supplier,
    Workload,
    WorkloadText,
)
from catalog.services import load_catalog, set_price

MODELS = [
    GpuModel,
    BaseModel,
    Region,
    Supplier,
    StoragePlan,
    Image,
    Offer,
    OfferPrice,
    Workload,
    WorkloadText,
]


def everything():
    return {model: list(model.objects.order_by("pk").values()) for model in MODELS}


def test_adds_what_the_issue_asks_for(catalog):
    assert GpuModel.objects.count() == 32
    assert set(Region.objects.values_list("slug", "city")) == {
        ("eu-west-paris", "Paris"),
        ("eu-central-frankfurt", "Frankfurt"),
    }
    assert Supplier.objects.count() == 3
    assert BaseModel.objects.filter(is_listed=True).count() == 63
    assert BaseModel.objects.filter(is_listed=False).count() == 11
    assert set(Image.objects.values_list("name", flat=True)) == {
        "PyTorch",
        "Axolotl",
        "Unsloth",
        "LLaMA-Factory",
        "TRL",
    }
    assert not Image.objects.filter(reference__endswith=":latest").exists()
    assert StoragePlan.objects.get(slug="persistent").monthly_price == Money(
        "0.09", "USD"
    )


def test_gpurento_has_four_cards_in_both_regions_as_of_its_page(catalog, now):
    offers = Offer.objects.with_price(now).filter(supplier__slug="gpurento")

    assert offers.values("region").annotate(Count("pk")).count() == 2
    for slug, price in {
        "rtx-4090": "0.34",
        "l40s": "0.79",
        "a100-pcie-80": "1.19",
        "h100-sxm": "2.69",
    }.items():
        found = offers.filter(gpu__slug=slug)
        assert [row.hourly_amount for row in found] == [Decimal(price)] * 2
    assert {row.price_as_of for row in offers} == {datetime(2026, 9, 1, tzinfo=UTC)}
    assert all(row.is_stale for row in offers)


def test_figures_are_those_of_one_gpu(catalog):
    card = GpuModel.objects.get(slug="a100-sxm-80")

    assert (card.label, card.memory_gb, card.bandwidth_gbs) == ("A100 SXM", 80, 2039)
    a16 = GpuModel.objects.get(slug="a16")
    assert (a16.memory_gb, a16.tdp_w) == (16, Decimal("62.5")), "R19"
    for gpu in GpuModel.objects.all():
        assert gpu.source_url.startswith("https://"), "R19"


def test_a_second_run_changes_nothing(catalog, now):
    before = everything()

    added = load_catalog(at=now + timedelta(days=100))

    assert not any(added.values())
    assert everything() == before


def test_leaves_what_staff_changed(catalog, now):
    offer = Offer.objects.get(supplier__slug="everxcloud", gpu__slug="rtx-4090")
    later = now + timedelta(days=1)
    set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.36", "USD"),
        valid_from=later,
        actor=None,
        at=later,
    )
    Region.objects.filter(slug="eu-west-paris").update(city="Paris 2")
    WorkloadText.objects.filter(language="en").update(lead="Rewritten.")
    before = everything()

    load_catalog(at=now + timedelta(days=2))

    assert everything() == before
    assert offer.hourly_price(later) == Money("0.36", "USD")


def test_adds_only_what_is_missing(catalog, now):
    WorkloadText.objects.get(workload__slug="inference", language="id").delete()
    Image.objects.filter(slug="trl").delete()

    added = load_catalog(at=now)

    assert added["guide texts"] == 1
    assert added["images"] == 1
    assert sum(added.values()) == 2


@pytest.mark.usefixtures("db")
def test_command_says_what_it_added(capsys):
    call_command("load_catalog")
    call_command("load_catalog")

    first, second = capsys.readouterr().out.splitlines()
    assert "added 32 GPUs, 74 base models, 2 regions, 3 suppliers" in first
    assert second == "Catalog: nothing to add."
