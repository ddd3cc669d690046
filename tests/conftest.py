"""
People with fixed meaning: the renter owns what a test is about, the stranger owns
nothing of it, staff run the site.
"""

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
from allauth.account.models import EmailAddress
from django.test import Client
from django.utils import translation
from pytest_django import Settings

from billing.gateways.sandbox import SandboxGateway
from marketplace import services
from marketplace.models import User
from tests import (
    ledger_flush,  # noqa: F401 - a transactional test empties all tables
    money_lookups,  # noqa: F401 - no query compares with a Money
)
from tests.billing import provider
from tests.workspaces import export_tools

SIGNED_UP_AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
PASSWORD = "a long and private sentence"

MakePerson = Callable[..., User]


@pytest.fixture(autouse=True)
def _mail_goes_to_the_outbox(settings: Settings) -> None:
    # Django's test runner puts a backend of its own in its place.
    settings.EMAIL_BACKEND = "post_office.EmailBackend"


@pytest.fixture(autouse=True)
def _provider(monkeypatch: pytest.MonkeyPatch) -> None:
    # It knows what a test lets it say, beside what was paid on the sandbox's page.
    monkeypatch.setattr(SandboxGateway, "fetch", provider.fetch)
    provider.known.clear()


@pytest.fixture(autouse=True)
def _english() -> Iterator[None]:
    # A page in another language leaves its language active in the thread.
    with translation.override("en"):
        yield


@pytest.fixture(scope="session")
def tools() -> None:
    """
    Wait for dstack, SkyPilot and gpuhunt, before a test begins its transaction.
    """
    if not export_tools.wait_until_made():
        pytest.skip(
            "dstack, SkyPilot and gpuhunt are missing: `make test` installs them."
        )


@pytest.fixture
def make_person(db: None) -> MakePerson:
    """
    Sign a person up, with three empty wallets and a confirmed address.
    """

    def make(email: str, *, language: str = "en", **flags: bool) -> User:
        person = services.sign_up(
            email=email, password=PASSWORD, language=language, at=SIGNED_UP_AT
        )
        for name, value in flags.items():
            setattr(person, name, value)
        person.save(update_fields=[*flags])
        EmailAddress.objects.create(
            user=person, email=email, verified=True, primary=True
        )
        return person

    return make


@pytest.fixture
def renter(make_person: MakePerson) -> User:
    return make_person("renter@example.com")


@pytest.fixture
def stranger(make_person: MakePerson) -> User:
    return make_person("stranger@example.com")


@pytest.fixture
def staff(make_person: MakePerson) -> User:
    return make_person("staff@example.com", is_staff=True, is_superuser=True)


def logged_in(person: User) -> Client:
    client = Client()
    client.force_login(person)
    # As the log-in page leaves it; the first page would otherwise begin it.
    session = client.session
    session["began"] = session["seen"] = int(time.time())
    session.save()
    return client


@pytest.fixture
def renter_client(renter: User) -> Client:
    return logged_in(renter)


@pytest.fixture
def stranger_client(stranger: User) -> Client:
    return logged_in(stranger)


@pytest.fixture
def staff_client(staff: User) -> Client:
    return logged_in(staff)
