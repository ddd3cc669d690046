import re

import pytest
from allauth.account.models import EmailAddress
from django.core.cache import cache
from django.db import IntegrityError
from django.urls import reverse
from post_office.models import Email

from billing.services import wallets_of
from marketplace import services
from marketplace.models import User
from tests.conftest import PASSWORD, SIGNED_UP_AT

pytestmark = pytest.mark.django_db

NEWCOMER = {"email": "New.Comer@example.com", "password1": PASSWORD}


@pytest.fixture(autouse=True)
def _no_rate_limit_from_before():
    cache.clear()


def sign_up(client, path="/account/signup/", **changes):
    return client.post(path, NEWCOMER | changes)


def link_in(mail):
    return re.search(r"http://\S+(/account/confirm-email/\S+)", mail.message)[1]


def test_opens_an_empty_wallet_in_every_currency():
    user = services.sign_up(
        email="a@example.com", password=PASSWORD, at=SIGNED_UP_AT, language="id"
    )

    balances = wallets_of(user_id=user.pk)
    assert [balance.currency for balance in balances] == ["USD", "EUR", "GBP"]
    assert {balance.available.amount for balance in balances} == {0}
    assert (user.language, user.date_joined) == ("id", SIGNED_UP_AT)


def test_refuses_an_address_that_has_an_account(renter):
    with pytest.raises(IntegrityError):
        services.sign_up(email=renter.email.upper(), password=None, at=SIGNED_UP_AT)


def test_lets_nobody_in_before_the_address_is_confirmed(client):
    answer = sign_up(client)

    assert answer.url == reverse("account_email_verification_sent")
    assert "_auth_user_id" not in client.session
    user = User.objects.get()
    assert user.email == "new.comer@example.com"
    assert not EmailAddress.objects.get(user=user).verified
    login = {"login": user.email, "password": PASSWORD}
    assert client.post("/account/login/", login).url == answer.url


def test_confirms_by_the_button_and_not_by_opening_the_link(client):
    sign_up(client)
    link = link_in(Email.objects.get())

    page = client.get(link)

    assert page.status_code == 200
    assert not EmailAddress.objects.get().verified
    assert client.post(link).url == reverse("marketplace:dashboard")
    assert EmailAddress.objects.get().verified
    assert client.get("/dashboard/").status_code == 200


def test_remembers_the_language_of_the_page(client):
    sign_up(client, "/es/account/signup/")

    mail = Email.objects.get()
    assert User.objects.get().language == "es"
    link = re.search(r"http://\S+(/es/account/confirm-email/\S+)", mail.message)[1]
    assert client.post(link).url == "/es/dashboard/"


def test_answers_the_same_for_an_address_that_has_an_account(client, renter):
    fresh = sign_up(client)
    known = sign_up(client, email=renter.email)

    assert (known.status_code, known.url) == (fresh.status_code, fresh.url)
    assert User.objects.count() == 2
    told = Email.objects.get(to=renter.email)
    assert "already has an account" in told.message
    assert "/confirm-email/" not in told.message


def test_makes_no_account_for_a_program_that_fills_in_every_field(client):
    answer = sign_up(client, website="https://spam.example")

    assert answer.url == reverse("account_email_verification_sent")
    assert not User.objects.exists()
    assert not Email.objects.exists()


@pytest.mark.parametrize(
    "password",
    [
        pytest.param("elevenchars", id="too short"),
        pytest.param("123456654321", id="in the list of common ones"),
        pytest.param("I-love-CoreHour-26", id="with the name of the site"),
        pytest.param("new.comer@example.com", id="like the address"),
    ],
)
def test_refuses_a_password_that_is_easy_to_guess(client, password):
    answer = sign_up(client, password1=password)

    assert answer.status_code == 200
    assert answer.context["form"].errors["password1"]
    assert not User.objects.exists()


def test_ignores_fields_that_are_not_asked_for(client):
    sign_up(client, is_staff="on", is_superuser="on", currency="GBP", verified="1")

    user = User.objects.get()
    assert not user.is_staff
    assert not user.is_superuser
    assert user.currency == "USD"
    assert not EmailAddress.objects.get().verified


def test_hides_the_honeypot_without_a_style(client):
    page = client.get("/account/signup/").content.decode()

    assert 'name="website"' in page
    assert "style=" not in page


def test_stops_guessing_after_five_tries(client, renter):
    for _try in range(5):
        client.post("/account/login/", {"login": renter.email, "password": "wrong"})

    right = client.post(
        "/account/login/", {"login": renter.email, "password": PASSWORD}
    )

    assert right.status_code == 200
    assert "_auth_user_id" not in client.session


def test_changes_the_session_key_at_log_in(client, renter):
    client.get("/account/login/")
    session = client.session
    session["before"] = True
    session.save()
    key = session.session_key

    client.post("/account/login/", {"login": renter.email, "password": PASSWORD})

    assert client.session["_auth_user_id"] == str(renter.pk)
    assert client.session.session_key != key


def test_changes_the_token_of_forms_at_log_in(client, renter):
    client.get("/account/login/")
    token = client.cookies["csrf"].value

    client.post("/account/login/", {"login": renter.email, "password": PASSWORD})

    assert client.cookies["csrf"].value != token


@pytest.mark.parametrize(
    "target",
    ["//evil.example", "https://evil.example", "javascript:alert(1)", r"/\evil"],
)
def test_log_in_goes_to_no_other_site(client, renter, target):
    login = {"login": renter.email, "password": PASSWORD, "next": target}

    assert client.post("/account/login/", login).url == reverse("marketplace:dashboard")
