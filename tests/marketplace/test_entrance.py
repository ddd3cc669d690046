"""
What an attacker learns and gets at the doors: log-in, reset, second factor, `next`.
"""

import re

import pytest
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from django.contrib.auth.hashers import MD5PasswordHasher
from django.core.cache import cache
from django.test import Client
from django.urls import reverse
from post_office.models import Email

from tests.conftest import PASSWORD
from tests.marketplace.test_second_factor import code_of, set_up_totp

pytestmark = pytest.mark.django_db

LOGIN = "/account/login/"
RESET = "/account/password/reset/"
FRESH = "another long and private sentence"
SECRETIVE = re.compile(r'name="csrfmiddlewaretoken" value="\w+"|value="[^"@]+@[^"]+"')


@pytest.fixture(autouse=True)
def _no_rate_limit_from_before():
    cache.clear()


def is_in(client):
    return "_auth_user_id" in client.session


def log_in(person, password=PASSWORD, **more):
    client = Client()
    client.post(LOGIN, {"login": person.email, "password": password, **more})
    return client


def choose_new_password(person):
    client = Client()
    client.post(RESET, {"email": person.email})
    mail = Email.objects.filter(to=person.email).latest("pk")
    link = re.search(r"http://[^/]+(/account/password/reset/key/\S+)", mail.message)[1]
    form = client.get(link).url
    client.post(form, {"password1": FRESH, "password2": FRESH})
    return client, link


@pytest.mark.parametrize("page", [LOGIN, RESET])
def test_an_unknown_address_is_answered_like_a_known_one(renter, page):
    answers = []
    for address in (renter.email, "nobody@example.com"):
        typed = {"login": address, "email": address, "password": "wrong"}
        answer = Client().post(page, typed)
        shown = SECRETIVE.sub("", answer.text)
        answers.append((answer.status_code, answer.headers.get("Location"), shown))

    assert answers[0] == answers[1]


def test_an_unknown_address_takes_as_long_as_a_wrong_password(renter, monkeypatch):
    hashed = []
    plain = MD5PasswordHasher.encode

    def encode(self, password, salt):
        hashed.append(password)
        return plain(self, password, salt)

    monkeypatch.setattr(MD5PasswordHasher, "encode", encode)
    Client().post(LOGIN, {"login": renter.email, "password": "wrong"})
    known = len(hashed)
    Client().post(LOGIN, {"login": "nobody@example.com", "password": "wrong"})

    assert known >= 1
    assert len(hashed) == 2 * known


def test_both_addresses_get_one_mail_for_a_reset(renter):
    for address in (renter.email, "nobody@example.com"):
        Client().post(RESET, {"email": address})

    assert Email.objects.filter(to=renter.email).count() == 1
    (told,) = Email.objects.filter(to="nobody@example.com")
    assert "/reset/key/" not in told.message


def test_a_link_of_a_reset_works_once_and_logs_nobody_in(renter):
    elsewhere = log_in(renter)

    client, link = choose_new_password(renter)

    renter.refresh_from_db()
    assert renter.check_password(FRESH)
    assert not is_in(client)
    assert elsewhere.get("/wallet/").status_code == 302
    again = Client().get(link)
    assert again.status_code == 200
    assert 'name="password1"' not in again.text


def test_a_reset_does_not_get_around_the_second_factor(renter):
    secret = set_up_totp(renter)
    choose_new_password(renter)

    client = log_in(renter, FRESH)

    assert not is_in(client)
    assert client.get("/wallet/").status_code == 302
    client.post("/account/2fa/authenticate/", {"code": code_of(secret)})
    assert is_in(client)


def test_a_recovery_code_works_once(renter):
    set_up_totp(renter)
    code = RecoveryCodes.activate(renter).get_unused_codes()[0]
    first, second = log_in(renter), log_in(renter)

    for client in (first, second):
        client.post("/account/2fa/authenticate/", {"code": code})

    assert is_in(first)
    assert not is_in(second)


def test_codes_are_not_tried_for_ever(renter):
    secret = set_up_totp(renter)
    client = log_in(renter)
    for number in range(5):
        client.post("/account/2fa/authenticate/", {"code": f"00000{number}"})

    client.post("/account/2fa/authenticate/", {"code": code_of(secret)})

    assert not is_in(client)


@pytest.mark.parametrize(
    "password",
    [
        pytest.param("n" * 20 + "o" * 44, id="64 characters"),
        pytest.param("contraseña larga con ñ y 漢字 y 🔑", id="any letters"),
        pytest.param("onlysmallletters", id="no rules of composition"),
    ],
)
def test_a_long_password_is_taken_exactly_as_typed(renter, password):
    client = log_in(renter)
    typed = {"oldpassword": PASSWORD, "password1": password, "password2": password}
    client.post("/account/password/change/", typed)
    renter.refresh_from_db()

    assert renter.check_password(password)
    assert not is_in(log_in(renter, password.upper()))
    assert not is_in(log_in(renter, password[:-1]))
    assert is_in(log_in(renter, password))


@pytest.mark.parametrize(
    "target",
    [
        "//evil.com",
        "///evil.com",
        "http:///evil.com",
        r"/\evil.com",
        r"\\evil.com",
        "javascript:alert(1)",
        "https:evil.com",
        "//testserver@evil.com",
        "https://testserver.evil.com",
        "\t//evil.com",
        "https://evil.com",
        "data:text/html,x",
        "",
    ],
)
def test_log_in_leads_to_no_other_site(renter, target):
    typed = {"login": renter.email, "password": PASSWORD, "next": target}

    assert Client().post(LOGIN, typed).url == reverse("marketplace:dashboard")


@pytest.mark.parametrize(
    "target", ["/wallet/", "/gpus/?a=1", "/gpus/?next=//evil.com", "/%2f%2fevil.com"]
)
def test_log_in_leads_back_to_a_page_of_ours(renter, target):
    typed = {"login": renter.email, "password": PASSWORD, "next": target}

    assert Client().post(LOGIN, typed).url == target


@pytest.mark.parametrize(
    "path", ["//evil.com", "//evil.com/gpus", "/es//evil.com", "/\\evil.com/gpus"]
)
def test_a_strange_address_leads_to_no_other_site(client, path):
    answer = client.get(path)

    assert not answer.headers.get("Location", "/x").startswith(("//", "http", "/\\"))
    assert 'href="//' not in answer.text
