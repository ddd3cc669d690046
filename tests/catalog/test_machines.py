"""
What suppliers say of the machine around the GPUs reaches everybody who looks.
"""

import csv
import io
import json

import pytest

from tests.catalog.pages import text_of

LINE = "16 cores, 64 GB RAM, 1,500 GB disk, 2.5 Gbit/s, CUDA 12.8"


pytestmark = pytest.mark.usefixtures("at_now")


def rows(client, path):
    answer = client.get(f"/api/v1/{path}")
    return [*csv.DictReader(io.StringIO(answer.content.decode()))]


def test_the_page_of_a_gpu_names_it(described_offer, client):
    text = text_of(client.get("/gpus/test-gpu/"))

    assert f"Acme {LINE} EU North" in text.replace("\u00a0", " ")


def test_the_api_answers_it_with_units(described_offer, client):
    (found,) = client.get("/api/v1/offers").json()["items"]

    assert [*found.items()][-5:] == [
        ("cpu_cores", 16),
        ("ram_gb", 64),
        ("disk_gb", 1500),
        ("network_gbit_per_s", "2.5"),
        ("cuda_version", "12.8"),
    ]


def test_nothing_is_said_of_a_machine_that_nobody_described(offer, client):
    (found,) = client.get("/api/v1/offers").json()["items"]

    assert {value for _name, value in [*found.items()][-5:]} == {None}
    (file,) = rows(client, "offers.csv")
    assert {value for _name, value in [*file.items()][-5:]} == {""}
    (hunted,) = rows(client, "catalogs/gpuhunt.csv")
    assert [hunted[name] for name in ("cpu", "memory", "disk_size")] == ["0", "0", ""]
    (piloted,) = rows(client, "catalogs/skypilot.csv")
    assert (piloted["vCPUs"], piloted["MemoryGiB"]) == ("0", "0")


def test_files_have_it(described_offer, client):
    (file,) = rows(client, "offers.csv")
    assert [*file.items()][-5:] == [
        ("cpu_cores", "16"),
        ("ram_gb", "64"),
        ("disk_gb", "1500"),
        ("network_gbit_per_s", "2.5"),
        ("cuda_version", "12.8"),
    ]
    # The moment of the tests, written as RFC 3339 in UTC.
    assert (file["as_of"], file["available_until"]) == ("2026-11-30T12:00:00+00:00", "")
    (hunted,) = rows(client, "catalogs/gpuhunt.csv")
    assert [hunted[name] for name in ("cpu", "memory", "disk_size")] == [
        "16",
        "64",
        "1500",
    ]
    assert json.loads(hunted["provider_data"])["as_of"] == file["as_of"]
    (piloted,) = rows(client, "catalogs/skypilot.csv")
    assert (piloted["vCPUs"], piloted["MemoryGiB"]) == ("16", "64")
