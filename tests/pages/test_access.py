"""
What holds for all pages: who sees them, what they answer, and that looking is safe.

A page that is not in `ACCESS` fails the tests.
"""

from collections import Counter
from http import HTTPStatus

import pytest
from django.apps import apps
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from tests.pages.access import ACCESS

# It walks over what other tests count, and counting takes half its time.
pytestmark = pytest.mark.no_cover

# And by the button of a mail program: the id in its address is the proof. What a
# browser reports of the policy changes nothing.
MADE_BY_SIGNED_CALLS = {"webhook", "catalog:stop_alert", "csp_reports"}
# Without a token, or because nothing can be changed there: the API.
REFUSED = {HTTPStatus.FORBIDDEN, HTTPStatus.METHOD_NOT_ALLOWED}
# The API's answers are the same in every language.
WITHOUT_LANGUAGE = "api:"


def names_of(resolver: URLResolver, prefix: str = "") -> list[str]:
    names = []
    for entry in resolver.url_patterns:
        if isinstance(entry, URLPattern):
            names.append(f"{prefix}{entry.name}")
        elif entry.namespace != "admin":
            inner = f"{entry.namespace}:" if entry.namespace else ""
            names += names_of(entry, prefix + inner)
    return names


def test_every_page_says_who_may_see_it():
    names = Counter(names_of(get_resolver()))

    assert sorted(names) == sorted(ACCESS)
    assert set(names.values()) == {1}


@pytest.mark.parametrize("who", ["anonymous", "renter", "stranger", "staff"])
def test_shows_pages_to_those_who_may_see_them(who, addresses, clients):
    answers = {
        name: clients[who].get(path).status_code for name, path in addresses.items()
    }

    assert answers == {name: getattr(access, who) for name, access in ACCESS.items()}


def test_takes_no_post_without_a_token(addresses, renter):
    client = Client(enforce_csrf_checks=True)
    client.force_login(renter)

    accepted = {
        name
        for name, path in addresses.items()
        if client.post(path).status_code not in REFUSED
    }

    assert accepted == MADE_BY_SIGNED_CALLS


@pytest.mark.parametrize("who", ["anonymous", "renter", "staff"])
def test_answers_with_the_headers_that_protect_a_browser(who, addresses, clients):
    for name, path in addresses.items():
        headers = clients[who].get(path).headers

        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy, name
        assert "unsafe" not in policy, name
        assert headers["X-Content-Type-Options"] == "nosniff", name
        assert headers["X-Frame-Options"] == "DENY", name
        assert headers["Cross-Origin-Opener-Policy"] == "same-origin", name
        assert "strict-origin" in headers["Referrer-Policy"], name
        if headers["Content-Type"].startswith("text/"):
            assert "charset=" in headers["Content-Type"], name
        if who != "anonymous":
            assert "no-store" in headers["Cache-Control"], name


def row_counts():
    return {
        model._meta.label: model._default_manager.count()
        for model in apps.get_models()
        # Looking at a page may begin or lengthen a session.
        if model._meta.label not in {"sessions.Session", "usersessions.UserSession"}
    }


@pytest.mark.parametrize("who", ["anonymous", "renter", "staff"])
def test_looking_changes_nothing(who, addresses, clients):
    before = row_counts()

    for path in addresses.values():
        clients[who].get(path)
        clients[who].head(path)

    assert row_counts() == before


def test_knows_no_other_methods(addresses, renter_client):
    for name, path in addresses.items():
        for method in ["PUT", "PATCH", "DELETE", "TRACE"] if ":" in name else []:
            answer = renter_client.generic(method, path)
            assert answer.status_code in {404, 405}, (method, name)


@pytest.mark.parametrize("language", ["es", "id"])
def test_every_page_has_an_address_in_every_language(
    language, addresses, renter_client
):
    ours = {
        name: path
        for name, path in addresses.items()
        if ":" in name and not name.startswith(WITHOUT_LANGUAGE)
    }

    answers = {
        name: renter_client.get(f"/{language}{path}").status_code
        for name, path in ours.items()
    }

    assert answers == {name: ACCESS[name].renter for name in ours}
