from io import StringIO

import pytest
from allauth.account.models import EmailAddress
from django.contrib.auth import authenticate
from django.core.management import CommandError, call_command
from djmoney.money import Money

from billing.services import check_books, standings_of, wallets_of
from catalog.models import Offer
from marketplace import demo, demo_supplier
from marketplace.models import Launch, LaunchEvent, Match, User
from marketplace.suppliers.people import member_of
from tests.workspaces.conftest import NOON

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _it_is_noon(monkeypatch):
    monkeypatch.setattr("clock.now", lambda: NOON)


def run(name):
    out = StringIO()
    call_command(name, stdout=out)
    return out.getvalue()


def test_demo_makes_people_who_can_log_in():
    run("demo")

    renter, supplier, staff = (User.objects.get(email=mail) for mail in demo_emails())
    assert not renter.is_staff
    assert staff.is_staff
    assert staff.is_superuser
    assert len(wallets_of(user_id=renter.pk)) == 3
    verified = EmailAddress.objects.filter(verified=True, primary=True)
    assert verified.count() == User.objects.count()
    assert member_of(supplier).is_owner
    assert authenticate(username=renter.email, password=demo.PASSWORD) == renter


@pytest.fixture
def python(tmp_path, monkeypatch):
    """
    A Python that notes what it is asked for, and fails at the catalog with status 3.
    """
    asked = tmp_path / "asked"
    program = tmp_path / "python"
    program.write_text(
        f'#!/bin/sh\necho "$@" >> {asked}\n[ "$2" != bench.catalog ] || exit 3\n'
    )
    program.chmod(0o755)
    monkeypatch.setattr("sys.executable", str(program))
    return asked


def test_bench_runs_what_is_named(python):
    call_command("bench", "matching", "tick")

    assert python.read_text() == "-m bench.matching\n-m bench.tick\n"


def test_bench_runs_all_until_one_fails_and_keeps_its_status(python):
    with pytest.raises(CommandError, match=r"bench\.catalog failed") as caught:
        call_command("bench")

    assert caught.value.returncode == 3
    assert python.read_text() == "-m bench.tick\n-m bench.catalog\n"


def test_bench_knows_no_other_name(python):
    with pytest.raises(CommandError, match="moon measures nothing"):
        call_command("bench", "moon")

    assert not python.exists()


def demo_emails():
    return [demo.RENTER, demo.SUPPLIER, demo.STAFF]


def test_demo_can_run_again():
    run("demo")
    planned = Launch.objects.get().opens_at
    people = User.objects.count()
    User.objects.filter(email=demo.RENTER).update(name="Changed")

    run("demo")

    assert User.objects.count() == people
    assert User.objects.get(email=demo.RENTER).name == "Changed"
    assert Launch.objects.get().opens_at == planned
    assert planned > NOON


def test_the_demo_supplier_has_earned_something():
    """
    40 h at 0.37, 24 h of two GPUs at 0.85 and 30 h at 0.37, each hour less its fee.

    The fee of 10 % is rounded with each hour: 0.04 of 0.37, 0.17 of 1.70.
    """
    run("demo")

    (own,) = standings_of(party=f"supplier:{demo_supplier.SLUG}", at=NOON)
    assert own.earned == Money("59.82", "USD")
    assert own.paid == Money("13.20", "USD")
    assert own.payable == Money("36.72", "USD")
    assert own.held == Money("9.90", "USD")
    assert check_books() == []


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
