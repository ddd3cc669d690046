"""
Staff outside the demo: a password alone reaches the account pages and nothing else.
"""

import pytest
from allauth.mfa.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.recovery_codes.internal.auth import RecoveryCodes
from allauth.mfa.totp.internal import auth as totp
from django.core.cache import cache
from django.urls import reverse

from billing.models import BankAccount
from marketplace.models import Launch
from tests.conftest import PASSWORD
from tests.marketplace.supplier_fixtures import company, owner  # noqa: F401

pytestmark = pytest.mark.django_db

STAFF_PAGES = ["/admin/", "/staff/", "/staff/launch/", "/dashboard/", "/"]


@pytest.fixture(autouse=True)
def _not_the_demo(settings):
    settings.DEMO = False
    cache.clear()


def set_up_totp(person):
    secret = totp.generate_totp_secret()
    totp.TOTP.activate(person, secret)
    return secret


def code_of(secret):
    counter = next(totp.yield_hotp_counters_from_time())
    return totp.format_hotp_value(totp.hotp_value(secret, counter))


def log_in(client, person):
    return client.post("/account/login/", {"login": person.email, "password": PASSWORD})


@pytest.mark.parametrize("page", STAFF_PAGES)
def test_sends_staff_without_a_second_factor_to_set_one_up(client, staff, page):
    log_in(client, staff)

    answer = client.get(page)

    assert (answer.status_code, answer.url) == (302, "/account/2fa/")
    assert client.get(answer.url).status_code == 200


def test_a_post_does_nothing_either(client, staff):
    log_in(client, staff)

    assert client.post("/staff/launch/open/").status_code == 302

    assert not Launch.objects.current().is_open


@pytest.mark.parametrize("page", STAFF_PAGES)
def test_a_session_from_before_the_second_factor_does_not_count(client, staff, page):
    log_in(client, staff)
    set_up_totp(staff)

    answer = client.get(page)

    assert answer.status_code == 302
    assert answer.url.startswith("/account/2fa/reauthenticate/?next=")


@pytest.mark.parametrize("page", STAFF_PAGES)
def test_lets_staff_in_with_both(client, staff, page):
    secret = set_up_totp(staff)

    assert log_in(client, staff).url.startswith("/account/2fa/authenticate/")
    assert client.get(page).status_code in {200, 302}
    client.post("/account/2fa/authenticate/", {"code": code_of(secret)})

    assert client.get(page).status_code == 200


def test_the_same_code_does_not_work_twice(client, staff):
    secret = set_up_totp(staff)
    code = code_of(secret)
    log_in(client, staff)
    client.post("/account/2fa/authenticate/", {"code": code})
    client.logout()
    log_in(client, staff)

    client.post("/account/2fa/authenticate/", {"code": code})

    assert "_auth_user_id" not in client.session


def test_renters_need_none(client, renter):
    log_in(client, renter)

    assert client.get("/dashboard/").status_code == 200


def test_secrets_are_sealed_in_the_database(staff):
    secret = set_up_totp(staff)
    RecoveryCodes.activate(staff)

    stored = str([row.data for row in Authenticator.objects.all()])

    assert secret not in stored
    sealed = Authenticator.objects.get(type="totp").data["secret"]
    assert get_adapter().decrypt(sealed) == secret


def test_an_older_key_still_opens_what_it_sealed(staff, settings):
    sealed = get_adapter().encrypt("secret")
    settings.SECRET_KEY_FALLBACKS = [settings.SECRET_KEY]
    settings.SECRET_KEY = "another key, at least fifty characters long, really so"

    assert get_adapter().decrypt(sealed) == "secret"


def test_where_payouts_go_is_changed_with_a_second_factor_alone(client, company, owner):  # noqa: F811
    page = reverse("marketplace:supplier_bank")
    typed = {
        "currency": "EUR",
        "holder": "Nordlicht AS",
        "number": "DE89370400440532013000",
        "bank_code": "",
    }
    log_in(client, owner)

    without = client.post(page, typed)
    secret = set_up_totp(owner)
    from_before = client.post(page, typed)
    client.logout()
    log_in(client, owner)
    client.post("/account/2fa/authenticate/", {"code": code_of(secret)})

    client.post("/account/reauthenticate/", {"password": PASSWORD})

    assert without.url == "/account/2fa/"
    assert from_before.url.startswith("/account/2fa/reauthenticate/?next=")
    assert not BankAccount.objects.exists()
    assert client.post(page, typed).url == page
    assert BankAccount.objects.get().holder == "Nordlicht AS"


def test_who_may_change_that_is_invited_with_a_second_factor_alone(
    client,
    company,  # noqa: F811
    owner,  # noqa: F811
):
    page = reverse("marketplace:supplier_people")
    typed = {"email": "mallory@example.com", "role": "OWNER"}
    log_in(client, owner)

    without = client.post(page, typed)
    secret = set_up_totp(owner)
    client.logout()
    log_in(client, owner)
    client.post("/account/2fa/authenticate/", {"code": code_of(secret)})
    without_password = client.post(page, typed)

    client.post("/account/reauthenticate/", {"password": PASSWORD})

    assert without.url == "/account/2fa/"
    assert without_password.url.startswith("/account/reauthenticate/?next=")
    assert company.supplier.members.count() == 1
    assert client.post(page, typed).url == page
    assert company.supplier.members.count() == 2
