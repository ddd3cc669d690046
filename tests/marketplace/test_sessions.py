"""
How long a log-in lasts, and what ends it.
"""

import pytest
import time_machine
from django.contrib.sessions.models import Session
from django.core.cache import cache
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from tests.conftest import PASSWORD, SIGNED_UP_AT

pytestmark = pytest.mark.django_db

HOUR = 3600
DAY = 24 * HOUR


@pytest.fixture(autouse=True)
def _no_rate_limit_from_before():
    cache.clear()


def log_in(person):
    client = Client()
    client.post("/account/login/", {"login": person.email, "password": PASSWORD})
    assert client.session["_auth_user_id"] == str(person.pk)
    return client


def is_in(client):
    return client.get("/wallet/").status_code == 200


@pytest.mark.parametrize(
    ("who", "gap", "visits", "stays"),
    [
        ("renter", 13 * DAY, 2, True),
        ("renter", 14 * DAY + 60, 1, False),
        ("renter", 10 * DAY, 3, True),
        ("renter", 10 * DAY + 60, 3, False),
        ("staff", 59 * 60, 2, True),
        ("staff", HOUR + 360, 1, False),
        ("staff", 50 * 60, 14, True),
        ("staff", 48 * 60, 16, False),
    ],
)
def test_a_session_ends_unused_or_at_last(request, who, gap, visits, stays):
    """
    Customers: 14 days and 30; staff: an hour and twelve.
    """
    began = SIGNED_UP_AT.timestamp()
    person = request.getfixturevalue(who)
    with time_machine.travel(began, tick=False) as clock:
        client = log_in(person)
        for visit in range(1, visits + 1):
            clock.move_to(began + visit * gap)
            answer = client.get("/wallet/")
            assert visit == visits or answer.status_code == 200

    assert (answer.status_code == 200) is stays
    if not stays:
        assert answer.url == "/account/login/?next=/wallet/"
        assert "_auth_user_id" not in client.session


def test_using_a_page_writes_no_row_each_time(renter):
    client = log_in(renter)

    with CaptureQueriesContext(connection) as asked:
        client.get("/account/logout/")

    assert asked.captured_queries
    assert all(query["sql"].startswith("SELECT") for query in asked.captured_queries)


def test_a_stolen_cookie_is_worth_nothing_after_the_log_out(renter):
    client, thief = log_in(renter), Client()
    thief.cookies.load({"session": client.cookies["session"].value})
    assert is_in(thief)

    client.post("/account/logout/")

    assert not is_in(thief)
    assert not Session.objects.filter(pk=client.cookies["session"].value).exists()


def test_a_new_password_ends_all_sessions(renter):
    here, elsewhere = log_in(renter), log_in(renter)
    fresh = "another long and private sentence"

    here.post(
        "/account/password/change/",
        {"oldpassword": PASSWORD, "password1": fresh, "password2": fresh},
    )

    assert renter.check_password(PASSWORD)
    renter.refresh_from_db()
    assert renter.check_password(fresh)
    assert not is_in(here)
    assert not is_in(elsewhere)


def test_who_is_shut_out_is_out_at_once(renter):
    client = log_in(renter)
    renter.is_active = False
    renter.save()

    assert not is_in(client)


def test_a_person_ends_the_sessions_elsewhere(renter):
    elsewhere, here = log_in(renter), log_in(renter)
    assert elsewhere.get("/account/sessions/").text.count("127.0.0.1") >= 2

    here.post("/account/sessions/")

    assert is_in(here)
    assert not is_in(elsewhere)


def test_a_public_page_begins_no_session(client):
    client.get("/")
    client.get("/gpus/")

    assert "session" not in client.cookies
    assert not Session.objects.exists()
