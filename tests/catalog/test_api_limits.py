"""
How much one client may ask, and what happens without the cache that counts it.
"""

import pytest
import time_machine
from django.core.cache import cache
from django.core.cache.backends.redis import RedisCache

from catalog.api import door
from catalog.api.clients import client_of
from limits import PAUSE_SECONDS, Counter

REGIONS = "/api/v1/regions"


@pytest.fixture
def few_calls(settings, monkeypatch, now):
    """
    Three calls a minute, counted from nothing, ten seconds into a minute.
    """
    settings.API_CALLS_PER_MINUTE = 3
    monkeypatch.setattr(door, "counter", Counter())
    cache.clear()
    with time_machine.travel(now.replace(second=10), tick=False):
        yield
    cache.clear()


def test_more_calls_than_allowed_have_to_wait(few_calls, client, db):
    for left in ("2", "1", "0"):
        answer = client.get(REGIONS)
        assert answer.status_code == 200
        assert answer["RateLimit"] == f'"minute";r={left};t=50'

    refused = client.get(REGIONS)

    assert refused.status_code == 429
    assert refused["Retry-After"] == "50"
    assert refused["RateLimit-Policy"] == '"minute";q=3;w=60'
    assert refused["Content-Type"] == "application/problem+json"
    assert "Wait 50 seconds" in refused.json()["detail"]
    assert refused["Access-Control-Allow-Origin"] == "*"
    assert client.get(REGIONS, REMOTE_ADDR="192.0.2.7").status_code == 200


def test_the_next_minute_counts_anew(few_calls, client, db, now):
    for _ in range(4):
        client.get(REGIONS)

    with time_machine.travel(now.replace(minute=now.minute + 1), tick=False):
        assert client.get(REGIONS).status_code == 200


def test_a_file_of_everything_weighs_more(few_calls, client, db):
    assert client.get("/api/v1/offers.csv").status_code == 429


def test_a_spoofed_address_is_not_believed(few_calls, client, db):
    answers = [
        client.get(REGIONS, headers={"x-forwarded-for": f"192.0.2.{number}"})
        for number in range(4)
    ]

    assert answers[-1].status_code == 429


@pytest.mark.parametrize(
    ("address", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:bbbb::1", "2001:db8:1:2::/64"),
        ("", "unknown"),
    ],
)
def test_who_a_client_is(rf, address, client):
    assert client_of(rf.get("/", REMOTE_ADDR=address)) == client


def test_answers_uncounted_while_the_cache_is_down(
    few_calls, client, db, monkeypatch, caplog
):
    dead = RedisCache("redis://127.0.0.1:1", {})
    monkeypatch.setattr("limits.cache", dead)

    answers = [client.get(REGIONS) for _ in range(5)]

    assert [answer.status_code for answer in answers] == [200] * 5
    assert all("RateLimit" not in answer for answer in answers)
    # It is asked once, and then again after a pause only.
    assert caplog.text.count("Calls are not counted") == 1
    assert PAUSE_SECONDS == 30
