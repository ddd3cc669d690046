import re
from urllib.parse import parse_qs

import pytest
import time_machine
from django.urls import reverse

from catalog.models import BaseModel, Offer, StoragePlan
from tests.catalog.pages import tables_of, text_of


@pytest.fixture(autouse=True)
def _at_noon(now):
    with time_machine.travel(now, tick=False):
        yield


def names(page):
    return [row[0].split(" Fits")[0].split(" Tight")[0] for row in tables_of(page)[0]]


def row_of(page, label):
    return next(row for row in tables_of(page)[0] if row[0].startswith(f"{label} "))


def links(page):
    source = page.content.decode().replace("&amp;", "&")
    start = f'href="{reverse("workspaces:request")}?'
    return [piece.split('"')[0] for piece in source.split(start)[1:]]


# MEMORY.md: Llama-3.1-8B, QLoRA, 2048 x 1 needs 13.6 GB. The RTX 4090 at 0.33 USD with
# 200 GB at 0.09 USD per 730 h: 40 h are 13.20 + 0.99, 8 h 2.64 + 0.20, 120 h 39.60 + 2.96.
def test_answers_in_a_sentence_before_anything_was_asked(catalog, client):
    page = client.get("/planner/")

    text = text_of(page)
    assert "Needs about 13.6 GB." in text
    assert "It fits 32 of 32 GPUs, from $14.19 for 40 hours." in text
    assert "Llama 3.1 8B (≈ 8B), QLoRA, 2,048 tokens, 1 at once." in text


def test_shows_the_cheapest_fitting_gpu_first_with_its_costs(catalog, client):
    page = client.get("/planner/")

    rows = tables_of(page)[0]
    assert len(rows) == 32
    assert names(page)[:2] == ["RTX 4090", "RTX A6000"], "R15"
    assert rows[0][2:6] == ["$0.33", "$2.84", "$14.19", "$42.56"]
    assert "Frankfurt" in rows[0][0]


def test_says_what_storage_costs_and_prices_the_size_asked_for(catalog, client):
    text = text_of(client.get("/planner/"))

    assert "Each cost includes 200 GB of storage" in text, "R8"
    assert "$0.09 per GB-month: $0.99 for 40 h" in text, "R18"

    page = client.get("/planner/?storage_gb=0")

    assert tables_of(page)[0][0][2:6] == ["$0.33", "$2.64", "$13.20", "$39.60"]
    assert "Storage is not included" in text_of(page)


def test_shows_hours_of_ones_own_beside_the_windows(catalog, client):
    page = client.get("/planner/?hours=100&storage_gb=0")

    assert tables_of(page)[0][0][2:7] == [
        "$0.33",
        "$2.64",
        "$13.20",
        "$39.60",
        "$33.00",
    ]
    assert "from $33.00 for 100 hours." in text_of(page)


def test_puts_what_is_too_small_last_and_says_what_would_help(catalog, client):
    page = client.get("/planner/?sequence_length=8192")

    last = tables_of(page)[0][-1]
    assert "Does not fit" in last[0]
    assert "short." in last[1]
    assert "It would fit with a fused loss kernel." in last[1]
    assert "Request" not in last[-1]
    assert "Does not fit" in row_of(page, "RTX 4090")[0]


def test_says_when_no_single_gpu_is_large_enough(catalog, client):
    page = client.get("/planner/?model=meta-llama-3-1-405b&method=full")

    assert "No single one of 32 GPUs holds that." in text_of(page)
    assert links(page) == []


def test_says_when_nobody_offers_what_fits(catalog, client):
    Offer.objects.update(free_nodes=0)

    page = client.get("/planner/")

    assert "It fits 32 of 32 GPUs. Nobody offers one of them now." in text_of(page)
    assert all("no live ask" in row[2] for row in tables_of(page)[0]), "R20"
    assert links(page) == []


def test_shows_low_stock_and_hides_none(catalog, client):
    Offer.objects.filter(gpu__slug="rtx-a6000").update(free_nodes=1)

    assert "1 node left" in row_of(client.get("/planner/"), "RTX A6000")[0], "R23"


@pytest.mark.parametrize(
    "model",
    [
        "meta-llama-3-1-8b",
        "meta-llama/Meta-Llama-3.1-8B",
        "Llama 3.1 8B",
        " llama  3.1 8b",
    ],
)
def test_finds_a_model_by_slug_id_or_name(catalog, client, model):
    page = client.get("/planner/", {"model": model})

    assert "Llama 3.1 8B (≈ 8B)" in text_of(page)
    assert 'value="Llama 3.1 8B"' in page.content.decode()


def test_proposes_every_listed_model_and_no_other(catalog, client):
    source = client.get("/planner/").content.decode()

    assert source.count("<option value=") == 63
    assert '<option value="Mistral 7B v0.3"></option>' in source
    assert "OpenBuddy" not in source


@pytest.mark.parametrize(
    ("query", "typed", "message"),
    [
        ("model=Lama+3.1+8B", "Lama 3.1 8B", "Did you mean Llama 3.1 8B"),
        ("model=gpt-9", "gpt-9", "No model of this name is known."),
        ("model=openbuddy-zephyr-7b", "openbuddy-zephyr-7b", "No model of this name"),
        ("model=", "", "Name a model, for example Llama 3.1 8B."),
        ("sequence_length=8.192", "8.192", "Write a whole number, with digits only."),
        ("sequence_length=0", "0", "greater than or equal to 1"),
        (
            "model=phi-2&sequence_length=4096",
            "4096",
            "Phi 2 reads 2,048 tokens at most.",
        ),
        ("micro_batch=", "", "Write a number here."),
        ("hours=2161", "2161", "less than or equal to 2160"),
        ("hours=-8", "-8", "greater than or equal to 1"),
        ("storage_gb=20001", "20001", "less than or equal to 20000"),
    ],
)
def test_refuses_and_keeps_what_was_typed(catalog, client, query, typed, message):
    page = client.get(f"/planner/?{query}")

    text = text_of(page)
    assert page.status_code == 200
    assert message in text
    assert "No plan yet" in text
    if typed:
        assert f'value="{typed}"' in page.content.decode()


def test_refuses_an_unknown_method(catalog, client):
    text = text_of(client.get("/planner/?method=dora"))

    assert "Select a valid choice." in text


def test_keeps_the_whole_state_in_its_address(catalog, client):
    page = client.get(
        "/planner/?model=qwen2-5-14b&method=lora&sequence_length=4096&micro_batch=2"
        "&hours=12&storage_gb=50"
    )

    source = page.content.decode()
    assert 'value="Qwen2.5 14B"' in source
    for value in ("4096", "2", "12", "50"):
        assert f'value="{value}"' in source
    assert re.search(r'value="lora"[^>]* checked', source)


def test_hands_the_state_to_the_request(catalog, client):
    page = client.get("/planner/?model=Qwen2.5+14B&method=lora&hours=12&storage_gb=50")

    query = {name: value[0] for name, value in parse_qs(links(page)[0]).items()}
    assert query == {
        "model": "qwen2-5-14b",
        "method": "lora",
        "sequence_length": "2048",
        "micro_batch": "1",
        "hours": "12",
        "storage_gb": "50",
        "gpu": "rtx-a6000",
        "region": "eu-central-frankfurt",
    }
    assert BaseModel.objects.filter(slug=query["model"]).exists()


def test_is_a_plain_form_that_htmx_only_makes_quicker(catalog, client):
    page = client.get("/planner/")

    form = page.content.decode().split("<form")[1].split(">")[0]
    assert 'method="get"' in form
    assert 'action="/planner/"' in form


def test_answers_htmx_with_the_planner_alone(catalog, client):
    whole = client.get("/planner/")
    part = client.get("/planner/", headers={"HX-Request": "true"})
    restored = client.get(
        "/planner/",
        headers={"HX-Request": "true", "HX-History-Restore-Request": "true"},
    )

    assert part.content.decode().lstrip().startswith('<div class="split" id="planner">')
    assert "<html" in whole.content.decode()
    assert "<html" in restored.content.decode()
    assert "HX-Request" in part["Vary"]
    assert "HX-Request" in whole["Vary"]


def test_leaves_storage_in_another_currency_out(catalog, client):
    StoragePlan.objects.update(monthly_price_currency="EUR")

    page = client.get("/planner/")

    assert tables_of(page)[0][0][4] == "$13.20"


def test_writes_numbers_as_the_language_does(catalog, client):
    assert "14,19\u00a0US$" in text_of(client.get("/es/planner/"))
    assert "US$14,19" in text_of(client.get("/id/planner/"))


@pytest.mark.parametrize("method", ["post", "put", "delete"])
def test_only_reads(catalog, client, method):
    assert getattr(client, method)("/planner/").status_code == 405
