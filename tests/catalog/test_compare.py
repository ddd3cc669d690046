import pytest
import time_machine

from catalog.comparison import compare, read_choice
from catalog.models import GpuModel, Offer
from tests.catalog.pages import text_of
from tests.catalog.test_gpu_list import ASKS, LARGE, MIDDLE, OLD, OSLO, SMALL, ask


@pytest.fixture(autouse=True)
def _at_noon(now):
    with time_machine.travel(now, tick=False):
        yield


def lines_of(*gpus, asks=ASKS):
    found = compare(gpus, asks=asks)
    return {str(line.label): line for group in found.groups for line in group.lines}


def values(line):
    return [str(getattr(cell.value, "rate", cell.value)) for cell in line.cells]


def best(line):
    return [cell.is_best for cell in line.cells]


def test_marks_the_best_of_each_line():
    lines = lines_of(SMALL, MIDDLE, LARGE)

    # Per GB 0.02, 0.015, 0.0125, per TB/s 0.48, 1.20, 0.75.
    assert best(lines["EU West · Paris"]) == [True, False, False]
    assert best(lines["EU North · Oslo"]) == [False, True, False]
    assert best(lines["Per GB of memory"]) == [False, False, True]
    assert best(lines["Per TB/s of bandwidth"]) == [True, False, False]
    assert best(lines["Memory"]) == [False, False, True]
    # 1000, 1000 and 4000 GB/s
    assert best(lines["Bandwidth"]) == [False, False, True]
    assert best(lines["Architecture"]) == [False, False, False]


def test_marks_nothing_where_all_are_equal():
    assert best(lines_of(SMALL, MIDDLE)["Bandwidth"]) == [False, False]


def test_shows_what_hours_cost_and_what_fits():
    lines = lines_of(SMALL, OLD)

    # 0.48 USD for 8, 40 and 120 hours
    assert values(lines["1 GPU × 8 h"]) == ["$3.84", "None"]
    assert values(lines["1 GPU × 40 h"]) == ["$19.20", "None"]
    assert values(lines["1 GPU × 120 h"]) == ["$57.60", "None"]
    # 80 % of 24 and 16 GB: 19.2 and 12.8; at 1 byte floored to 5, at 2.5 to 1.
    assert values(lines["QLoRA"]) == ["15", "10"]
    assert values(lines["LoRA"]) == ["7", "5"]
    assert best(lines["QLoRA"]) == [True, False]


def test_compares_asks_in_one_currency_and_says_so():
    asks = {**ASKS, 3: [ask(3, OSLO, "1.20", currency="EUR", comparable="1.38")]}

    found = compare([MIDDLE, LARGE], asks=asks)

    oslo = next(
        line for line in found.groups[0].lines if line.label == "EU North · Oslo"
    )
    # 1.30 USD against 1.20 EUR, which are 1.38 USD.
    assert best(oslo) == [True, False]
    assert found.has_currencies
    assert not compare([SMALL, MIDDLE], asks=ASKS).has_currencies


def test_takes_each_gpu_once_and_four_at_most():
    every = [GpuModel(slug=name) for name in "abcdef"]

    choice = read_choice(["b", "", "b", "zz", "a", "c", "d", "f"], gpus=every)

    assert [gpu.slug for gpu in choice.gpus] == ["b", "a", "c", "d"]
    assert [gpu.slug for gpu in choice.left_out] == ["f"]
    assert choice.unknown == ["zz"]


def test_page_shows_two_side_by_side(catalog, client):
    text = text_of(client.get("/gpus/compare/?gpu=rtx-4090&gpu=h100-sxm"))

    assert "Bandwidth 1,008 GB/s best 3,350 GB/s" in text
    assert (
        "EU Central · Frankfurt best $0.33 12 nodes free EverXCloud, as of Nov 30, 2026"
        " $2.88 8 nodes free EverXCloud, as of Nov 30, 2026"
    ) in text
    # 0.33 / 24 = 0.01375, 2.88 / 80 = 0.036; by 1.008 and 3.35 TB/s
    assert "Per GB of memory best $0.0138 $0.036" in text
    assert "Per TB/s of bandwidth best $0.33 $0.86" in text
    assert "FP8 330 TFLOPS best 1,979 TFLOPS" in text


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("", "Choose two GPUs at least"),
        ("gpu=rtx-4090", "Only RTX 4090 is chosen: choose one more"),
        ("gpu=rtx-4090&gpu=<b>", "No GPU is called <b>. Choose from the lists below."),
        (
            "gpu=t4&gpu=l4&gpu=a10&gpu=a40&gpu=b200",
            "Four fit side by side: B200 is left out.",
        ),
    ],
    ids=["none", "one", "unknown", "too many"],
)
def test_page_says_what_is_wrong_with_a_choice(catalog, client, query, message):
    page = client.get(f"/gpus/compare/?{query}")

    assert page.status_code == 200
    assert message in text_of(page)
    assert "<b>. Choose" not in page.content.decode()


def test_page_shows_gpus_that_nobody_offers(catalog, client):
    Offer.objects.update(free_nodes=0)

    text = text_of(client.get("/gpus/compare/?gpu=rtx-4090&gpu=l40s"))

    assert "Best ask no live ask no live ask" in text
    assert "Memory 24 GB best 48 GB" in text
