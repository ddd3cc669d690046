import re

import pytest
import time_machine

from catalog.models import Offer, StoragePlan
from tests.catalog.pages import text_of
from tests.workspaces.conftest import NOON

PAGE = "/pilot/"


@pytest.fixture(autouse=True)
def _at_noon():
    with time_machine.travel(NOON, tick=False):
        yield


def receipt(page):
    source = page.content.decode()
    lines = source.split('class="pairs receipt"')[1].split("</dl>")[0]
    return re.findall(r"<dd>([^<]*\d[^<]*)</dd>", lines)


# 20 million tokens, 3 times, at 2,400 a second: 25,000 s. An hour of evaluation: 28,600.
# One run in five fails: 28,600 / 0.8 = 35,750 s, of which 7,150 are lost. The RTX 4090
# at 0.33: 35,750 / 3,600 x 0.33 = 3.277. 200 GB at 0.09 for 35,750 s of 2,628,000:
# 0.245; with 7 days more, 640,550 s: 4.387, so 4.15 after the end.
def test_works_out_hours_and_cost_by_line(catalog, client):
    page = client.get(PAGE)

    text = text_of(page)
    assert "$7.67 to an accepted checkpoint" in text
    assert receipt(page) == ["$3.28", "$0.24", "$4.15", "$7.67"]
    assert "after 9 h 55 min" in text
    assert "Training 6 h 56 min Evaluation 1 h Failed runs 1 h 59 min" in text


def test_takes_the_time_of_a_step_instead(catalog, client):
    # 16,384 tokens in 8 s: 2,048 a second.
    by_step = client.get(f"{PAGE}?seconds_per_step=8&tokens_per_step=16384")
    by_speed = client.get(f"{PAGE}?tokens_per_second=2048")

    assert receipt(by_step) == receipt(by_speed)
    assert "2,048 tokens a second" in text_of(by_step)


@pytest.mark.parametrize(
    ("query", "window", "cost"),
    [
        # Half the speed needs 19.9 h at one failure in five: 40 h.
        ("tokens_per_second=1200&storage_gb=0", "40", "$13.20"),
        # 3,600 tokens an hour's second: 12.96 million take an hour, 103.68 eight.
        (
            "tokens_per_second=3600&dataset_mtokens=103.68&epochs=1&evaluation_hours=0"
            "&failed_percent=0&storage_gb=0",
            "8",
            "$2.64",
        ),
        (
            "tokens_per_second=3600&dataset_mtokens=103.69&epochs=1&evaluation_hours=0"
            "&failed_percent=0&storage_gb=0",
            "40",
            "$13.20",
        ),
        # 1,296 million take 100 h twice: 200.
        (
            "tokens_per_second=3600&dataset_mtokens=1296&epochs=2&evaluation_hours=0"
            "&failed_percent=0&storage_gb=0",
            "200",
            "$66.00",
        ),
        # With storage and 7 days afterwards as in a quote: 13.20 + 0.99 + 4.14.
        ("", "40", "$18.33"),
    ],
)
def test_names_the_smallest_window_that_covers_it(catalog, client, query, window, cost):
    text = text_of(client.get(f"{PAGE}?{query}"))

    assert f"A window of {window} hours covers it" in text
    assert f"{cost} is the most it can cost" in text


# 0.33 dollars are 0.264 euros and 0.2112 pounds: x 35,750 / 3,600.
@pytest.mark.usefixtures("rates")
def test_counts_in_the_currency_asked_for(catalog, client):
    page = client.get(f"{PAGE}?currency=EUR&storage_gb=0")

    assert receipt(page) == ["€2.62", "€2.62"]
    assert (
        "Converted to €0.264 at the European Central Bank's rate of November 27, 2026"
        in text_of(page)
    )


@pytest.mark.usefixtures("rates")
def test_starts_in_the_currency_of_who_is_logged_in(catalog, renter, renter_client):
    renter.currency = "GBP"
    renter.save(update_fields=["currency"])

    assert receipt(renter_client.get(f"{PAGE}?storage_gb=0")) == ["£2.10", "£2.10"]


def test_says_when_a_currency_cannot_be_converted(catalog, client):
    text = text_of(client.get(f"{PAGE}?currency=EUR"))

    assert "There is no exchange rate from USD to EUR." in text
    assert "No cost yet" in text


def test_says_when_nobody_offers_the_gpu(catalog, client):
    Offer.objects.filter(gpu__slug="rtx-4090").update(free_nodes=0)

    text = text_of(client.get(PAGE))

    assert "Nobody offers a node with so many of these GPUs now." in text


def test_prices_a_whole_node(catalog, client):
    # The whole node's speed is measured; 8 x 35,750 / 3,600 h at 1.19 are 94.54.
    page = client.get(f"{PAGE}?gpu=a100-sxm-40&gpus=8&storage_gb=0")

    assert receipt(page) == ["$94.54", "$94.54"]


def test_leaves_storage_out_that_nobody_sells(catalog, client):
    StoragePlan.objects.update(is_listed=False)

    assert receipt(client.get(PAGE)) == ["$3.28", "$3.28"]


@pytest.mark.parametrize(
    ("query", "typed", "message"),
    [
        ("tokens_per_second=fast", "fast", "Write a number like 0.5 or 0,5"),
        ("tokens_per_second=1.008,5", "1.008,5", "Write a number like 0.5 or 0,5"),
        ("tokens_per_second=0", "0", "Write a number above 0."),
        (
            "tokens_per_second=",
            "",
            "Write either tokens a second or the time of a step",
        ),
        (
            "tokens_per_second=5&seconds_per_step=5",
            "5",
            "Write either tokens a second or the time of a step",
        ),
        ("seconds_per_step=2", "2", "How many tokens has a step?"),
        ("dataset_mtokens=", "", "Write a number here."),
        ("epochs=-1", "-1", "Write a number like 0.5"),
        ("failed_percent=96", "96", "Write 95 at most."),
        ("kept_days=2.5", "2.5", "Write a whole number, with digits only."),
        ("gpu=abacus", "", "Select a valid choice."),
        ("currency=JPY", "", "Select a valid choice."),
    ],
)
def test_refuses_and_keeps_what_was_typed(catalog, client, query, typed, message):
    page = client.get(f"{PAGE}?{query}")

    assert page.status_code == 200
    assert message in text_of(page)
    assert "No cost yet" in text_of(page)
    if typed:
        assert f'value="{typed}"' in page.content.decode()


@pytest.mark.parametrize("written", ["2.5", "2,5"])
def test_either_mark_is_the_decimal_mark(catalog, client, written):
    text = text_of(client.get(f"{PAGE}?epochs={written}"))

    assert "2.5 times" in text


@pytest.mark.parametrize(("language", "total"), [("es", "7,67 US$"), ("id", "US$7,67")])
def test_writes_as_the_language_does(catalog, client, language, total):
    assert total in text_of(client.get(f"/{language}{PAGE}"))


def test_hands_the_window_to_the_request(catalog, client):
    source = client.get(PAGE).content.decode().replace("&amp;", "&")

    assert (
        "/workspaces/new/?gpu=rtx-4090&gpus=1&region=eu-central-frankfurt&hours=40"
        "&storage_gb=200&kept_days=7&currency=USD" in source
    )


def test_asks_the_database_little(catalog, client, django_assert_max_num_queries):
    with django_assert_max_num_queries(10):
        client.get(PAGE)


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_only_reads(catalog, client, method):
    assert getattr(client, method)(PAGE).status_code == 405
