"""
The account pages, allauth's own among them, come out in the site's look.
"""

import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import translation

from tests.conftest import logged_in

OPEN_PAGES = [
    "account_login",
    "account_signup",
    "account_inactive",
    "account_email_verification_sent",
    "account_reset_password",
    "account_reset_password_done",
    "account_reset_password_from_key_done",
]
OWN_PAGES = [
    "account_email",
    "account_change_password",
    "account_logout",
    "account_reauthenticate",
    "mfa_index",
    "mfa_list_webauthn",
    "usersessions_list",
]
# These ask for the password once more, if that was not done in the last minutes.
GUARDED_PAGES = [
    "mfa_activate_totp",
    "mfa_add_webauthn",
]


@pytest.fixture(autouse=True)
def english():
    """
    Undo the language that an earlier page of the thread has left behind.
    """
    with translation.override("en"):
        yield


def assert_looks_right(html: str) -> None:
    assert "corehour.css" in html
    assert len(re.findall(r"<h1\b", html)) == 1
    assert not re.search(r"\sstyle=|\son[a-z]+=", html)
    labels = set(re.findall(r'<label for="([^"]+)"', html))
    for field in re.findall(r"<input\b[^>]*>", html):
        if 'type="hidden"' not in field:
            identifier = re.search(r'\sid="([^"]+)"', field)
            assert identifier is not None
            assert identifier[1] in labels


@pytest.mark.parametrize("name", OPEN_PAGES)
@pytest.mark.parametrize("language", ["en", "es", "id"])
def test_stranger_sees_entrance(client, db, name, language):
    path = reverse(name) if language == "en" else f"/{language}{reverse(name)}"

    response = client.get(path)

    assert response.status_code == 200
    assert_looks_right(response.text)


@pytest.mark.parametrize("name", [*OWN_PAGES, *GUARDED_PAGES])
def test_person_sees_own_account_page(renter, name):
    client = confirmed(renter)

    response = client.get(reverse(name))

    assert response.status_code == 200
    assert_looks_right(response.text)


@pytest.mark.parametrize("name", OWN_PAGES[:2] + GUARDED_PAGES)
def test_stranger_is_sent_to_log_in(client, db, name):
    response = client.get(reverse(name))

    assert response.status_code == 302
    assert response.url.startswith(reverse("account_login"))


def test_wrong_password_is_explained_at_its_field(client, renter):
    form = {"login": renter.email, "password": "not the password"}

    response = client.post(reverse("account_login"), form)

    assert 'id="errors" role="alert"' in response.text
    # What was typed is kept, except the password.
    assert f'value="{renter.email}"' in response.text
    assert "not the password" not in response.text


def test_look_page_is_for_staff(staff):
    response = logged_in(staff).get(reverse("marketplace:look"))

    assert response.status_code == 200
    assert_looks_right(response.text)


def test_look_page_hides_from_others(client, renter):
    path = reverse("marketplace:look")

    assert client.get(path).status_code == 302
    assert logged_in(renter).get(path).status_code == 404


def test_look_page_only_shows(staff):
    response = logged_in(staff).post(reverse("marketplace:look"))

    assert response.status_code == 405


def test_unknown_address_is_answered_in_the_look(client, db):
    response = client.get("/no/such/page/")

    assert response.status_code == 404
    assert_looks_right(response.text)


def test_stale_form_says_that_nothing_happened(renter):
    client = Client(enforce_csrf_checks=True)

    response = client.post(reverse("account_login"), {"login": renter.email})

    assert response.status_code == 403
    assert "Nothing was changed and nothing was paid." in response.text
    assert_looks_right(response.text)


def confirmed(person) -> Client:
    """
    Log in and type the password once more, as pages that guard the account ask for.
    """
    client = logged_in(person)
    client.post(
        reverse("account_reauthenticate"), {"password": "a long and private sentence"}
    )
    return client


def test_log_in_speaks_in_our_words(client, db):
    page = client.get("/account/login/").content.decode()

    assert "Stay logged in in this browser" in page
    assert "Remember Me" not in page
