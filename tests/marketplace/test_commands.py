from io import StringIO

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command

from billing.services import wallets_of
from catalog.models import Offer
from marketplace import demo
from marketplace.models import Launch, LaunchEvent, Match, User
from tests.workspaces.conftest import NOON

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _it_is_noon(monkeypatch):
    monkeypatch.setattr("clock.now", lambda: NOON)


def run(name):
    out = StringIO()
    call_command(name, stdout=out)
    return out.getvalue()


def test_demo_makes_two_people_who_can_log_in():
    run("demo")

    renter, staff = (User.objects.get(email=email) for email in demo_emails())
    assert not renter.is_staff
    assert staff.is_staff
    assert staff.is_superuser
    assert len(wallets_of(user_id=renter.pk)) == 3
    assert EmailAddress.objects.filter(verified=True, primary=True).count() == 2
    assert authenticate(username=renter.email, password=demo.PASSWORD) == renter


def demo_emails():
    return [demo.RENTER, demo.STAFF]


def test_demo_can_run_again():
    run("demo")
    planned = Launch.objects.get().opens_at
    User.objects.filter(email=demo.RENTER).update(name="Changed")

    run("demo")

    assert User.objects.count() == 2
    assert User.objects.get(email=demo.RENTER).name == "Changed"
    assert Launch.objects.get().opens_at == planned
    assert planned > NOON


def test_demo_confirms_the_prices_that_it_plays(monkeypatch):
    run("demo")
    later = NOON.replace(year=2027)
    monkeypatch.setattr("clock.now", lambda: later)
    assert not Offer.objects.live(later).exists()

    run("demo")

    live = Offer.objects.live(later)
    assert live.filter(supplier__slug="everxcloud").count() == 9
    assert not live.filter(supplier__slug="gpurento").exists()


def test_demo_refuses_outside_the_demo(settings):
    settings.DEMO = False

    with pytest.raises(CommandError, match="DEMO only"):
        run("demo")

    assert not User.objects.exists()


def test_commands_open_and_match(funded):
    assert run("match_market") == "0 requests matched.\n"
    assert run("open_market") == "The market is open. 1 requests matched.\n"
    assert run("match_market") == "0 requests matched.\n"

    assert Match.objects.get().workspace == funded
    assert LaunchEvent.objects.get().actor is None
