"""
How the public API is called: what is kept, who may, and what goes wrong.
"""

from datetime import timedelta

import pytest
import time_machine
from djmoney.money import Money

from catalog.models import Offer
from catalog.services import set_price

V1 = "/api/v1"

pytestmark = pytest.mark.usefixtures("at_now")


@pytest.mark.parametrize(
    "path",
    [
        "/gpus",
        "/gpus/rtx-4090",
        "/regions",
        "/models",
        "/offers",
        "/estimate",
        "/gpus/rtx-4090/cost?storage_gb=10",
        "/gpus/rtx-4090/price-history",
        "/offers.csv",
    ],
)
def test_a_call_takes_few_queries(catalog, client, django_assert_max_num_queries, path):
    with django_assert_max_num_queries(6):
        assert client.get(f"{V1}{path}").status_code == 200


def test_what_has_not_changed_is_not_sent_again(catalog, client, now):
    path = f"{V1}/gpus/rtx-4090"
    first = client.get(path)
    known = {"if-none-match": first["ETag"]}

    again = client.get(path, headers=known)

    assert (again.status_code, again.content) == (304, b"")
    assert again["ETag"] == first["ETag"]
    assert again["Access-Control-Allow-Origin"] == "*"
    assert first["Cache-Control"] == "public, max-age=60"
    head = client.head(path)
    assert (head.status_code, head.content, head["ETag"]) == (200, b"", first["ETag"])
    assert head["Content-Length"] == str(len(first.content))
    later = now + timedelta(seconds=1)
    offer = Offer.objects.get(supplier__slug="everxcloud", gpu__slug="rtx-4090")
    set_price(
        offer_id=offer.pk,
        hourly_price=Money("0.32", "USD"),
        valid_from=later,
        actor=None,
        at=now,
    )
    with time_machine.travel(later, tick=False):
        changed = client.get(path, headers=known)
    assert changed.status_code == 200
    assert '"0.32"' in changed.content.decode()


def test_scripts_of_other_sites_may_read_the_api_and_nothing_else(catalog, client):
    origin = {"origin": "https://elsewhere.example"}

    answer = client.get(f"{V1}/regions", headers=origin)
    asked_first = client.options(f"{V1}/regions", headers=origin)

    assert answer["Access-Control-Allow-Origin"] == "*"
    assert "Access-Control-Allow-Credentials" not in answer
    assert asked_first.status_code == 204
    assert asked_first["Access-Control-Allow-Methods"] == "GET, HEAD, OPTIONS"
    for page in ["/api/", "/gpus/", "/wallet/"]:
        assert "Access-Control-Allow-Origin" not in client.get(page, headers=origin)


def test_says_who_asks_for_nothing(catalog, renter_client):
    answer = renter_client.get(f"{V1}/regions")

    assert answer.status_code == 200
    assert "no-store" in answer["Cache-Control"]
    assert "Set-Cookie" not in answer


def test_other_methods_are_refused_with_a_problem(client, db):
    answer = client.post(f"{V1}/offers", {"price": "0.01"})

    assert answer.status_code == 405
    assert answer["Allow"] == "GET, HEAD, OPTIONS"
    assert answer.json()["detail"] == (
        "Nothing can be changed here: use GET instead of POST."
    )


def test_a_fault_of_ours_is_told_without_its_details(client, db, monkeypatch, caplog):
    def fail(**_options):
        raise RuntimeError("a secret")

    monkeypatch.setattr("catalog.api.offers.read_live_offers", fail)

    answer = client.get(f"{V1}/offers")

    assert answer.status_code == 500
    assert answer["Content-Type"] == "application/problem+json"
    assert "secret" not in answer.content.decode()
    assert "a secret" in caplog.text


def test_the_index_leads_everywhere(catalog, client, settings):
    index = client.get(f"{V1}/").json()

    for name, address in index.items():
        if name.endswith("_url"):
            path = address.removeprefix(settings.SITE_URL)
            assert client.get(path).status_code == 200, address


@pytest.mark.parametrize("prefix", ["", "/es", "/id"])
def test_the_page_describes_every_address(client, db, prefix):
    description = client.get(f"{V1}/openapi.json").json()

    page = client.get(f"{prefix}/api/").content.decode()

    for path, methods in description["paths"].items():
        assert [*methods] == ["get"]
        assert f"<code>{path}</code>" in page
        for parameter in methods["get"]["parameters"]:
            assert f"<code>{parameter['name']}</code>" in page
            assert parameter["schema"]["description"]
    assert ">None<" not in page
