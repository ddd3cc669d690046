from datetime import timedelta

import pytest
import time_machine
from djmoney.money import Money

from catalog.models import Offer, OfferPrice, Region
from catalog.services import set_price
from tests.catalog.pages import tables_of, text_of


@pytest.fixture(autouse=True)
def _at_noon(now):
    with time_machine.travel(now, tick=False):
        yield


def test_page_shows_the_specification_and_its_source(catalog, client):
    page = client.get("/gpus/rtx-4090/")

    text = text_of(page)
    for fact in ["24 GB GDDR6X", "1,008 GB/s", "165 TFLOPS", "450 W", "Ada Lovelace"]:
        assert fact in text
    source = page.content.decode()
    assert "https://github.com/lamonoai/gpumap/blob/main/nvidia/GPU.md" in source


def test_page_says_what_a_gpu_cannot_do(catalog, client):
    assert "BF16 not supported" in text_of(client.get("/gpus/t4/"))


def test_page_shows_offers_with_their_age_the_stale_ones_last(catalog, client):
    rows = tables_of(client.get("/gpus/rtx-4090/"))[0]

    assert rows == [
        [
            "EverXCloud",
            "EU Central · Frankfurt",
            "1",
            "$0.33",
            "Nov 30, 2026",
            "12 nodes free",
        ],
        *[
            [
                "GPURento",
                region,
                "1",
                "$0.34",
                "Sep 1, 2026 not confirmed lately",
                "once the price is confirmed",
            ]
            for region in ("EU West · Paris", "EU Central · Frankfurt")
        ],
    ]


def test_page_shows_the_costs_of_the_best_ask(catalog, client):
    text = text_of(client.get("/gpus/rtx-4090/"))

    assert "1 GPU × 8 h $2.64 1 GPU × 40 h $13.20 1 GPU × 120 h $39.60" in text


def test_page_shows_what_fits_by_the_rule_of_thumb(catalog, client):
    # 80 % of 80 GB: at 1, 2.5 and 16 bytes a parameter, rounded down.
    text = text_of(client.get("/gpus/h100-sxm/"))

    assert "QLoRA, base model ≈ 60B 16-bit LoRA, base model ≈ 25B" in text
    assert "Full fine-tuning, model ≈ 4B" in text


def test_page_shows_a_new_price_and_keeps_the_old_one_in_its_history(
    catalog, client, now
):
    offer = Offer.objects.get(supplier__slug="everxcloud", gpu__slug="rtx-4090")
    later = now + timedelta(hours=1)
    set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.30", "USD"),
        valid_from=later,
        actor=None,
        at=now,
    )

    before = tables_of(client.get("/gpus/rtx-4090/"))
    with time_machine.travel(later, tick=False):
        after = tables_of(client.get("/gpus/rtx-4090/"))

    assert before[0][0][3] == "$0.33"
    assert len(before[-1]) == 3, "what is scheduled is nobody's business yet"
    assert after[0][0][3] == "$0.30"
    assert [row[-1] for row in after[-1]] == ["$0.30", "$0.33", "$0.34", "$0.34"]
    assert after[-1][0][:2] == ["Nov 30, 2026, 1:00 PM", "now"]
    assert after[-1][1][:2] == ["Nov 30, 2026, 12:00 PM", "Nov 30, 2026, 1:00 PM"]


def test_page_of_a_gpu_that_nobody_offers_says_what_to_do(catalog, client):
    text = text_of(client.get("/gpus/a16/"))

    assert "no live ask" in text
    assert "Nobody offers it now" in text
    assert "There is no price yet." in text


def test_page_leaves_out_what_is_off_the_list(catalog, client, now):
    Offer.objects.filter(supplier__slug="gpurento").update(is_listed=False)
    Offer.objects.filter(supplier__slug="everxcloud").update(available_until=now)

    assert "Nobody offers it now" in text_of(client.get("/gpus/rtx-4090/"))


def test_page_divides_a_long_list_of_offers(make_offer, client, gpu, now):
    places = [
        Region.objects.create(slug=name, name=name, city=name, country="FR")
        for name in "abcd"
    ]
    for place in places:
        for size in range(1, 14):
            make_offer(region=place, gpus_per_node=size)

    first = client.get(f"/gpus/{gpu.slug}/")
    second = client.get(f"/gpus/{gpu.slug}/?page=2")

    third = client.get(f"/gpus/{gpu.slug}/?page=3")

    assert [len(tables_of(page)[0]) for page in (first, second, third)] == [25, 25, 2]
    assert "Page 1 of 3" in text_of(first)


@pytest.mark.parametrize(("versions", "shown"), [(20, 20), (21, 20)])
def test_page_shows_the_twenty_newest_versions(
    offer, client, gpu, now, versions, shown
):
    for minutes in range(1, versions):
        OfferPrice.objects.create(
            offer=offer,
            hourly_price=Money("0.41", "USD"),
            valid_from=now - timedelta(minutes=minutes),
            confirmed_at=now,
            created_at=now,
        )

    page = client.get(f"/gpus/{gpu.slug}/")
    rows = tables_of(page)[-1]

    assert len(rows) == shown
    assert rows[0][-1] == "$0.40"
    assert ("These are the newest." in text_of(page)) is (versions > shown)


def test_page_is_not_found_for_another_name(catalog, client):
    assert client.get("/gpus/rtx-9999/").status_code == 404


def test_names_of_suppliers_are_shown_as_text(make_offer, client, gpu, supplier):
    supplier.name = "<b>Acme</b>"
    supplier.save()
    make_offer()

    source = client.get(f"/gpus/{gpu.slug}/").content.decode()

    assert "&lt;b&gt;Acme&lt;/b&gt;" in source
    assert "<b>Acme</b>" not in source


def test_a_card_of_two_dies_counts_the_memory_of_one(catalog, client):
    # 80 % of 64 GB at 1 byte a parameter is 51.2, floored to 50.
    text = text_of(client.get("/gpus/mi250x/"))

    assert "128 GB HBM2e One process sees 64 GB" in text, "R19"
    assert "QLoRA, base model ≈ 50B" in text
