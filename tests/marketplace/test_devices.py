"""
People hear of a browser that is new to their account, and of a used recovery code.
"""

import pytest
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.core.cache import cache
from django.test import Client
from post_office.models import Email

from marketplace.devices import name_of
from tests.conftest import PASSWORD, SIGNED_UP_AT
from tests.marketplace.test_second_factor import code_of, set_up_totp

FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:147.0) Gecko/20100101 Firefox/147.0"
WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)"
NEW = "A new browser logged in to your account"


@pytest.fixture(autouse=True)
def _no_rate_limit_from_before():
    cache.clear()


@pytest.mark.parametrize(
    ("user_agent", "name"),
    [
        (FIREFOX, "Firefox on Linux"),
        (
            f"Mozilla/5.0 (Windows NT 10.0; Win64; x64) {WEBKIT} Chrome/143.0.0.0"
            " Safari/537.36 Edg/143.0.0.0",
            "Edge on Windows",
        ),
        (
            f"Mozilla/5.0 (Linux; Android 10; K) {WEBKIT} Chrome/143.0.0.0 Mobile"
            " Safari/537.36",
            "Chrome Mobile on Android",
        ),
        ("curl/8.5.0", "curl"),
        ("", "an unknown browser"),
        ("<script>alert(1)</script>", "an unknown browser"),
        ("A" * 8000, "an unknown browser"),
    ],
    ids=lambda text: text[-20:],
)
def test_names_browsers_as_people_do(user_agent, name):
    assert name_of(user_agent) == name


def log_in(client, person, **headers):
    return client.post(
        "/account/login/",
        {"login": person.email, "password": PASSWORD},
        headers={"user-agent": FIREFOX, **headers},
    )


@pytest.fixture
def returning(renter):
    renter.last_login = SIGNED_UP_AT
    renter.save(update_fields=["last_login"])
    return renter


def subjects():
    return list(Email.objects.order_by("pk").values_list("subject", flat=True))


def test_tells_of_a_new_browser_once_and_not_in_its_own_words(client, returning):
    log_in(client, returning)

    row = Email.objects.get()
    assert (row.subject, row.to) == (NEW, [returning.email])
    assert "Firefox on Linux" in row.message
    assert "127.0.0.1" in row.message
    assert "Reset your password now" in row.message
    assert "Mozilla" not in row.message + row.html_message
    client.post("/account/logout/")
    log_in(client, returning)
    assert Email.objects.count() == 1
    log_in(Client(), returning)
    assert subjects() == [NEW, NEW]


def test_a_browser_is_known_to_each_of_those_who_share_it(client, returning, stranger):
    stranger.last_login = SIGNED_UP_AT
    stranger.save(update_fields=["last_login"])
    for person in [returning, stranger, returning, stranger]:
        log_in(client, person)
        client.post("/account/logout/")

    assert [row.to for row in Email.objects.order_by("pk")] == [
        [returning.email],
        [stranger.email],
    ]
    cookie = client.cookies["browser"]
    assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


def test_the_first_log_in_ever_is_no_news(client, renter):
    log_in(client, renter)

    assert not Email.objects.exists()


def test_a_refused_log_in_is_no_news_and_is_not_remembered(client, returning):
    set_up_totp(returning)

    log_in(client, returning)

    assert not Email.objects.exists()
    assert "browser" not in client.cookies


def test_tells_of_a_used_recovery_code_at_log_in_and_later(client, returning):
    set_up_totp(returning)
    codes = RecoveryCodes.activate(returning).get_unused_codes()
    log_in(client, returning)

    client.post("/account/2fa/authenticate/", {"code": codes[0]})
    client.post("/account/2fa/reauthenticate/", {"code": codes[1]})

    used = "A recovery code of your account was used"
    assert subjects() == [used, NEW, used]
    first, last = Email.objects.filter(subject=used).order_by("pk")
    assert "9 are left" in first.message
    assert "8 are left" in last.message
    assert not any(code in first.message for code in codes)


def test_a_usual_second_factor_is_no_news(client, renter):
    secret = set_up_totp(renter)
    log_in(client, renter)

    client.post("/account/2fa/authenticate/", {"code": code_of(secret)})

    assert client.session["_auth_user_id"] == str(renter.pk)
    assert Authenticator.objects.get().last_used_at
    assert not Email.objects.exists()


def test_the_list_of_sessions_names_browsers(client, renter):
    log_in(client, renter)

    page = client.get("/account/sessions/").text

    assert "Firefox on Linux" in page
    assert "Mozilla" not in page
