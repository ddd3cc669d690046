"""
The market as CSV, for spreadsheets and for the tools that read catalogs.
"""

import csv
import io
import json
import os
import subprocess
from pathlib import Path

import pytest

from catalog.models import GpuModel, Region, Supplier
from tests.workspaces import export_tools

READER = Path(__file__).with_name("read_catalogs.py")
OFFERS = "/api/v1/offers.csv"
GPUHUNT = "/api/v1/catalogs/gpuhunt.csv"
SKYPILOT = "/api/v1/catalogs/skypilot.csv"


pytestmark = pytest.mark.usefixtures("at_now")


def rows(client, path):
    answer = client.get(path)
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].startswith("attachment; filename=")
    return [*csv.DictReader(io.StringIO(answer.content.decode()))]


def test_offers_are_those_of_the_list(catalog, client):
    found = rows(client, OFFERS)

    listed = client.get("/api/v1/offers?limit=200").json()["items"]
    assert {
        (row["offer_id"], row["price_per_gpu_hour"], row["free_nodes"]) for row in found
    } == {
        (
            str(offer["id"]),
            offer["price_per_gpu_hour"]["amount"],
            str(offer["free_nodes"]),
        )
        for offer in listed
    }
    assert len(found) == len(listed) == 37


def test_a_name_cannot_be_a_formula(make_offer, client):
    supplier = Supplier.objects.create(slug="evil", name='=HYPERLINK("x")')
    make_offer(supplier=supplier)

    (row,) = rows(client, OFFERS)

    assert row["supplier"] == '\'=HYPERLINK("x")'


def test_a_node_costs_what_its_gpus_cost(catalog, client):
    found = {row["instance_name"]: row for row in rows(client, GPUHUNT)}

    # 8 x 5.49; memory is that of one GPU.
    node = found["demo-compute_b200_8x"]
    assert (node["price"], node["gpu_count"]) == ("43.92", "8")
    assert node["gpu_memory"] == "180.0", "R19"
    assert found["everxcloud_rtx-4090_1x"]["price"] == "0.33"


def test_other_currencies_are_converted_at_the_day_rate_or_left_out(
    make_offer, client, day_rates
):
    place = Region.objects.create(slug="a", name="a", city="a", country="FR")
    make_offer(price="0.40", currency="EUR")
    make_offer(price="0.50", region=place)

    assert [row["price"] for row in rows(client, GPUHUNT)] == ["0.50"]
    day_rates("2026-11-27", USD="1.25", GBP="0.80")

    found = rows(client, GPUHUNT)

    # 0.40 EUR at 1.25 USD.
    assert sorted(row["price"] for row in found) == ["0.50", "0.50"]
    asked = {json.loads(row["provider_data"])["currency"] for row in found}
    assert asked == {"EUR", "USD"}
    assert len(rows(client, SKYPILOT)) == 2


@pytest.mark.xdist_group("export tools")
def test_gpuhunt_and_skypilot_read_the_market(tools, catalog, client, tmp_path):
    for name, path in [("gpuhunt.csv", GPUHUNT), ("skypilot.csv", SKYPILOT)]:
        (tmp_path / name).write_bytes(client.get(path).content)

    done = subprocess.run(
        [str(export_tools.PYTHON), str(READER), str(tmp_path)],
        env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )

    assert done.returncode == 0, done.stderr[-2000:]
    read = json.loads(done.stdout)
    by_name = {item["instance_name"]: item for item in read["gpuhunt"]}
    assert len(by_name) == len({row["instance_name"] for row in rows(client, GPUHUNT)})
    card = by_name["everxcloud_rtx-4090_1x"]
    assert (card["gpu_name"], card["gpu_memory"], card["price"]) == (
        "RTX4090",
        24.0,
        0.33,
    )
    assert card["provider_data"]["supplier"] == "EverXCloud"
    assert read["gpuhunt_eight"] == read["skypilot_eight"] == ["demo-compute_b200_8x"]
    assert read["skypilot_cost"] == 43.92
    assert read["skypilot_accelerators"] == {"B200": 8}
    (h200,) = read["skypilot"]["H200"]
    assert (h200["device_memory"], h200["price"], h200["region"]) == (
        GpuModel.objects.get(slug="h200").memory_gb,
        4.19,
        "eu-central-frankfurt",
    )
