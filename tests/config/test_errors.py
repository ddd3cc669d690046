"""
What people are answered when something is in the way.
"""

import pytest
from django.contrib.auth.decorators import login_not_required
from django.core.cache import cache
from django.core.cache.backends.redis import RedisCache
from django.db import connection
from django.http import HttpResponse
from django.test import Client
from django.urls import path

from limits import Counter
from tests.conftest import PASSWORD

pytestmark = pytest.mark.django_db

CANARY = "whsec_canary_of_the_error_report"


@login_not_required
def too_slow(_request):
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL statement_timeout = 20")
        cursor.execute("SELECT pg_sleep(5)")
    return HttpResponse()


@login_not_required
def has_a_bug(_request):
    secret = CANARY
    raise ZeroDivisionError(secret)


urlpatterns = [path("slow", too_slow), path("bug", has_a_bug)]
handler500 = "config.errors.broken"


@pytest.fixture
def broken_site(settings):
    settings.ROOT_URLCONF = __name__
    return Client(raise_request_exception=False)


def test_a_busy_database_is_a_503_that_says_when_to_come_back(broken_site):
    answer = broken_site.get("/slow")

    assert (answer.status_code, answer["Retry-After"]) == (503, "10")
    assert "Too busy right now" in answer.text
    assert "pg_sleep" not in answer.text


def test_a_bug_is_a_500_that_tells_nothing(broken_site):
    answer = broken_site.get("/bug")

    assert answer.status_code == 500
    assert "Retry-After" not in answer
    assert CANARY not in answer.text
    assert "ZeroDivisionError" not in answer.text
    assert "Content-Security-Policy" in answer
    assert answer["X-Request-ID"]


def test_nobody_logs_in_uncounted(renter, monkeypatch):
    dead = RedisCache("redis://127.0.0.1:1", {})
    monkeypatch.setattr("allauth.core.internal.ratelimit.cache", dead)
    client = Client(raise_request_exception=False)

    answer = client.post(
        "/account/login/", {"login": renter.email, "password": PASSWORD}
    )

    assert answer.status_code == 503
    assert "_auth_user_id" not in client.session


def test_who_is_logged_in_stays_so_without_the_cache(renter_client, monkeypatch):
    dead = RedisCache("redis://127.0.0.1:1", {})
    monkeypatch.setattr("limits.cache", dead)
    monkeypatch.setattr("limits.counter", Counter())

    assert renter_client.get("/wallet/top-up/").status_code == 200
    assert renter_client.get("/dashboard/").status_code == 200


def test_too_many_tries_are_a_429_in_the_look(client, renter):
    cache.clear()
    for _try in range(5):
        client.post("/account/password/reset/", {"email": renter.email})

    answer = client.post("/account/password/reset/", {"email": renter.email})

    cache.clear()
    assert (answer.status_code, answer["Retry-After"]) == (429, "60")
    assert "You asked for this too often" in answer.text


@pytest.mark.parametrize("headers", [{}, {"hx-request": "true"}], ids=["page", "part"])
def test_a_part_of_a_page_that_is_too_old_is_answered_with_a_part(db, headers):
    client = Client(enforce_csrf_checks=True)

    answer = client.post("/account/login/", {"login": "x"}, headers=headers)

    assert answer.status_code == 403
    assert "Nothing was changed and nothing was paid." in answer.text
    assert ("<html" in answer.text) is not bool(headers)
