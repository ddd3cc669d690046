"""
The public API: what it answers is what the pages show.
"""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine

from catalog.best_asks import best_asks
from catalog.forms import PlannerForm
from catalog.live_offers import COLUMNS, LiveOffer
from catalog.models import GpuModel, Region

V1 = "/api/v1"
SITE = "https://corehour.example"


@pytest.fixture(autouse=True)
def _moment(at_now, settings):
    settings.SITE_URL = SITE


@pytest.fixture
def ask(client):
    def get(path, **query):
        answer = client.get(f"{V1}{path}", query)
        assert answer.status_code == 200, answer.content
        return answer.json()

    return get


def prices(asks):
    return [(ask["region"], ask["price_per_gpu_hour"]["amount"]) for ask in asks]


def test_columns_are_read_in_the_order_of_the_fields():
    fields = [*LiveOffer.__slots__]

    assert len(fields) == len(COLUMNS)
    named = {"gpu": "gpu__slug", "as_of": "price_as_of", "free_nodes": "free_nodes"}
    for field, column in named.items():
        assert COLUMNS[fields.index(field)] == column


def test_gpus_have_the_figures_and_best_asks_of_the_pages(catalog, ask, now):
    gpus = {gpu["slug"]: gpu for gpu in ask("/gpus")["items"]}

    best = best_asks(at=now)
    assert len(gpus) == GpuModel.objects.count() == 32
    for gpu in GpuModel.objects.all():
        assert prices(gpus[gpu.slug]["best_asks"]) == [
            (each.region.slug, f"{each.rate.amount:.2f}")
            for each in best.get(gpu.pk, [])
        ]
    found = gpus["rtx-4090"]
    assert (found["memory_gb"], found["memory_bandwidth_gb_per_s"]) == ("24", 1008)
    assert found["rule_of_thumb"] == {
        "qlora_billion_parameters": 15,
        "lora_billion_parameters": 7,
        "full_billion_parameters": 1,
    }
    (asked,) = found["best_asks"]
    assert asked == {
        "offer_id": asked["offer_id"],
        "region": "eu-central-frankfurt",
        "supplier": "EverXCloud",
        "price_per_gpu_hour": {"amount": "0.33", "currency": "USD"},
        "as_of": "2026-11-30T12:00:00Z",
        "gpus_per_node": 1,
        "free_nodes": 12,
    }
    assert ask("/gpus/rtx-4090") == found
    # GPURento's price is stale: shown on the page, but not "from".
    assert gpus["a100-pcie-80"]["best_asks"] == [], "R11"


def test_the_gpu_page_shows_the_same_price(catalog, ask, client):
    found = ask("/gpus/h100-pcie")

    page = client.get("/gpus/h100-pcie/").content.decode()
    assert prices(found["best_asks"]) == [
        ("eu-west-paris", "2.49"),
        ("eu-central-frankfurt", "2.55"),
    ]
    assert "$2.49" in page
    assert "$2.55" in page
    assert found["page_url"] == f"{SITE}/gpus/h100-pcie/"


def test_lists_come_in_parts_that_lead_to_all(catalog, client):
    path, seen = f"{V1}/offers?limit=15", []

    while path:
        part = client.get(path).json()
        assert part["total"] == 37
        seen += [offer["id"] for offer in part["items"]]
        path = part["next"].removeprefix(SITE) if part["next"] else None

    assert len(seen) == len(set(seen)) == 37


def test_offers_are_what_can_be_reserved_now_cheapest_first(
    make_offer, region, day_rates, ask
):
    day_rates("2026-11-27", USD="1.25", GBP="0.80")
    places = [
        Region.objects.create(slug=name, name=name, city=name, country="FR")
        for name in ["a", "b", "c", "d"]
    ]
    dear = make_offer(price="0.45", available_until=None)
    # 0.30 EUR are 0.375 USD.
    euro = make_offer(price="0.30", currency="EUR", region=places[0])
    few = make_offer(price="0.40", region=places[1], free_nodes=1)
    make_offer(price="0.10", region=places[2], free_nodes=0)
    make_offer(price="0.10", region=places[3], is_listed=False)

    found = ask("/offers")["items"]

    assert [offer["id"] for offer in found] == [euro.pk, few.pk, dear.pk], "R15 R20 R23"
    assert found[0]["price_per_gpu_hour"] == {"amount": "0.30", "currency": "EUR"}
    assert [offer["id"] for offer in ask("/offers", currency="EUR")["items"]] == [
        euro.pk
    ]
    assert ask("/offers", region="b")["total"] == 1
    assert ask("/offers", gpus_per_node=2) == {
        "items": [],
        "total": 0,
        "limit": 50,
        "offset": 0,
        "next": None,
    }


def test_a_price_that_nobody_confirmed_is_left_out(make_offer, ask, now):
    make_offer(confirmed_at=now - timedelta(days=31))

    assert ask("/offers")["total"] == 0, "R11"


def test_history_is_that_of_the_page(catalog, ask, client):
    place = {"region": "eu-central-frankfurt", "days": 30, "currency": "USD"}

    points = ask("/gpus/rtx-4090/price-history", **place)["points"]

    lines = client.get("/gpus/rtx-4090/prices.csv", place).content.decode().split()
    assert len(points) == len(lines) - 1 == 31
    for point, line in zip(points, lines[1:], strict=True):
        at, _, _, best, low, median, high, asks = line.split(",")
        assert point["at"] == at.replace("+00:00", "Z")
        assert point["asks"] == int(asks)
        named = ["best_ask", "p10", "median", "p90"]
        amounts = [point[f"{name}_amount"] for name in named]
        assert [Decimal(amount) for amount in amounts if amount] == [
            Decimal(text) for text in (best, low, median, high) if text
        ]


def test_history_answers_the_same_for_a_minute(offer, client, gpu, now):
    path = f"{V1}/gpus/{gpu.slug}/price-history?days=2"
    etags = set()

    for seconds in (0, 59, 60):
        with time_machine.travel(now + timedelta(seconds=seconds), tick=False):
            etags.add(client.get(path)["ETag"])

    assert len(etags) == 2


def test_an_estimate_is_the_plan_of_the_page(catalog, ask, client):
    planned = {"model": "meta-llama-3-1-8b", "method": "qlora", "hours": 40}

    found = ask("/estimate", **planned)

    page = client.get("/planner/", planned).content.decode()
    # 40 h at 0.33, and 200 GB at 0.09 a GB-month of 730 hours: 13.20 and 0.99.
    (row,) = [row for row in found["rows"] if row["gpu"] == "rtx-4090"]
    assert [(cost["hours"], cost["total"]["amount"]) for cost in row["costs"]] == [
        (8, "2.84"),
        (40, "14.19"),
        (120, "42.56"),
    ]
    assert "$14.19" in page
    assert (row["verdict"], found["evidence"]) == ("fits", "measured")
    shown = re.search(r"Needs about <b>([\d.]+)\sGB</b>", page)[1]
    assert abs(Decimal(found["needed_gb"]) - Decimal(shown)) <= Decimal("0.055")
    assert len(found["rows"]) == 32
    parts = sum(Decimal(part["memory_gb"]) for part in found["parts"])
    assert abs(parts - Decimal(found["needed_gb"])) < Decimal("0.05")
    again = client.get(found["planner_url"].removeprefix(SITE))
    assert "$14.19" in again.content.decode()


def test_a_model_of_ones_own_is_estimated_by_its_sizes(catalog, ask, client):
    # What Llama 3.1 8B says of itself in its config.json.
    sizes = {
        "hidden_size": 4096,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "intermediate_size": 14336,
        "vocab_size": 128256,
        "tie_word_embeddings": "no",
        "mlp": "3",
        "norm": "rmsnorm",
        "norms_per_layer": 2,
    }

    own = ask("/estimate/own", **sizes, gpu="rtx-4090")

    listed = ask("/estimate", model="meta-llama-3-1-8b", gpu="rtx-4090")
    assert own["needed_gb"] == listed["needed_gb"]
    assert own["rows"][0]["costs"] == listed["rows"][0]["costs"]
    assert (own["model"], own["evidence"]) == (None, "modelled")
    half = client.get(f"{V1}/estimate/own", {**sizes, "num_experts": 8})
    assert half.status_code == 409
    assert "num_experts_per_tok: Experts need this as well" in half.json()["detail"]


def test_an_estimate_is_asked_for_as_in_the_planner(client, db):
    paths = client.get(f"{V1}/openapi.json").json()["paths"]

    parameters = {each["name"] for each in paths[f"{V1}/estimate"]["get"]["parameters"]}

    # The API knows the listed models only, and can be asked for one GPU.
    assert parameters == {*PlannerForm.DEFAULTS} - {"source"} | {"gpu"}


def test_an_estimate_says_what_would_make_it_fit(catalog, ask):
    found = ask("/estimate", method="full", gpu="rtx-4090")

    (row,) = found["rows"]
    assert row["verdict"] == "no"
    assert Decimal(row["missing_gb"]) > 0
    assert "QLoRA" in [change["change"] for change in row["changes"]]


def test_a_cost_is_that_of_a_request(catalog, ask):
    # As a workspace of the same size is quoted: 13.20, 0.99 and 4.14.
    found = ask("/gpus/rtx-4090/cost", hours=40, storage_gb=200, kept_days=7)

    amounts = {
        name: found[name]["amount"]
        for name in ["compute", "storage", "kept_storage", "total"]
    }
    assert amounts == {
        "compute": "13.20",
        "storage": "0.99",
        "kept_storage": "4.14",
        "total": "18.33",
    }
    assert found["storage_price_per_gb_month"] == {"amount": "0.09", "currency": "USD"}
    # The best ask is in Paris, at 2.49.
    elsewhere = ask("/gpus/h100-pcie/cost", hours=1, region="eu-central-frankfurt")
    assert elsewhere["total"] == {"amount": "2.55", "currency": "USD"}
    # Nodes of eight have their own price: 8 GPUs x 10 h x 5.49.
    node = ask("/gpus/b200/cost", gpus=8, hours=10)
    assert node["total"] == {"amount": "439.20", "currency": "USD"}


@pytest.mark.parametrize(
    ("path", "status", "says"),
    [
        ("/gpus/rtx-9090", 404, "GET /api/v1/gpus lists them all"),
        ("/offers?gpu=rtx-9090", 404, "No gpu has the slug rtx-9090"),
        ("/gpus/rtx-4090/cost?gpus=8", 404, "GET /api/v1/offers?gpu=rtx-4090 shows"),
        ("/gpus/rtx-4090/cost?storage_gb=1&storage_plan=tape", 404, "persistent"),
        ("/gpus/rtx-4090/cost?storage_gb=1&kept_days=31", 409, "30 days at most"),
        ("/gpus/rtx-4090/price-history?region=mars", 404, "never offered there"),
        ("/gpus/rtx-4090/price-history?currency=GBP", 404, "leave the currency out"),
        ("/estimate?model=llama%203.1%208", 404, "Did you mean Llama 3.1 8B"),
        (
            "/estimate?model=llama-2-7b-hf&sequence_length=8192",
            409,
            "4096 tokens at most",
        ),
        ("/offers?limit=201", 422, "less than or equal to 200"),
        ("/offers?limit=10&limit=20", 422, "limit: is given twice"),
        ("/offers?gpu_slug=rtx-4090", 422, "gpu_slug: is not known here, only limit"),
        ("/regions.csv", 404, "GET /api/v1/ says where everything is"),
        ("/gpus/", 404, "There is nothing at /api/v1/gpus/"),
        ("/offers.csv?gpu=a10", 422, "leave gpu out"),
    ],
)
def test_a_problem_says_what_to_do(catalog, client, path, status, says):
    answer = client.get(f"{V1}{path}")

    problem = answer.json()
    assert answer.status_code == problem["status"] == status
    assert answer["Content-Type"] == "application/problem+json"
    assert "no-store" in answer["Cache-Control"]
    assert says in problem["detail"]
    assert problem["type"].startswith(f"{SITE}/api/#")
    anchor = problem["type"].partition("#")[2]
    assert f'id="{anchor}"' in client.get("/api/").content.decode()


def test_storage_in_another_currency_is_not_converted_unseen(
    catalog, make_offer, client, gpu
):
    make_offer(price="0.30", currency="EUR")

    answer = client.get(f"{V1}/gpus/{gpu.slug}/cost?storage_gb=10")

    assert answer.status_code == 409
    assert "storage is priced in USD" in answer.json()["detail"]
    without = client.get(f"{V1}/gpus/{gpu.slug}/cost?hours=10").json()
    assert without["total"] == {"amount": "3.00", "currency": "EUR"}
