"""
Every match is derived from the log again; whatever was tampered with is found.
"""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError, connection, transaction

from marketplace import services, tasks
from marketplace.models import MatchRun, Replay, SupplierMember
from marketplace.services import matching
from tests.workspaces.conftest import NOON, free_nodes
from workspaces.models import WorkspaceEvent

pytestmark = pytest.mark.django_db

HOUR = timedelta(hours=1)


@pytest.fixture(autouse=True)
def _it_is_noon(monkeypatch):
    monkeypatch.setattr("clock.now", lambda: NOON)


def replayed():
    return services.replay_matches(at=NOON).differences


def tamper(statement, *values):
    """
    Change the log as only the owner of its tables could.
    """
    tables = ["marketplace_match", "marketplace_matchrun"]
    with connection.cursor() as cursor:
        # A table with checks that still wait cannot be altered.
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} DISABLE TRIGGER USER")
        cursor.execute(statement, values)
        for table in tables:
            cursor.execute(f"ALTER TABLE {table} ENABLE TRIGGER USER")
        cursor.execute("SET CONSTRAINTS ALL DEFERRED")


@pytest.fixture
def two_matches(make_funded, offer, open_market):
    """
    The limit of 0.40 was first, the limit of 0.34 second; 0.32 got nothing.
    """
    make_funded(wanted_limit=Decimal("0.34"))
    make_funded(wanted_limit=Decimal("0.40"))
    make_funded(wanted_limit=Decimal("0.32"))
    return open_market()


def test_says_that_all_is_right(two_matches, capsys):
    call_command("replay_matches")

    assert capsys.readouterr().out == "2 matches in 1 runs are right.\n"
    assert Replay.objects.get().differences == []


def test_logs_what_was_heard_and_looked_at(two_matches, offer):
    run = MatchRun.objects.get()

    assert {match.run for match in two_matches} == {run}
    # The limit of 0.32 comes after the last match: its turn changed nothing.
    assert [bid["limit"] for bid in run.bids] == ["0.400000", "0.340000"]
    assert (offer.pk, 12) in {(ask["key"], ask["free_nodes"]) for ask in run.asks}


def test_replays_across_runs(make_funded, offer, open_market, monkeypatch):
    monkeypatch.setattr(matching, "MATCHES_PER_RUN", 1)
    for limit in ("0.34", "0.36", "0.35"):
        make_funded(wanted_limit=Decimal(limit))
    open_market()

    assert replayed() == []
    assert MatchRun.objects.count() == 3


def test_finds_an_edited_price(two_matches):
    tamper(
        "UPDATE marketplace_match SET hourly_price = 0.20 WHERE sequence = %s",
        two_matches[1].pk,
    )

    (difference,) = replayed()
    assert difference.startswith(f"Match {two_matches[1].pk} of run ")
    assert "at 0.200000 USD" in difference
    assert "derived: " in difference
    assert "at 0.330000 USD" in difference


def test_finds_a_skipped_earlier_request(make_funded, offer, open_market):
    """
    Both bid 0.40 for one node; the later one was written down as its match.
    """
    first = make_funded(wanted_limit=Decimal("0.40"))
    second = make_funded(wanted_limit=Decimal("0.40"))
    first, second = sorted([first, second], key=lambda request: str(request.pk))
    offer.nodes = offer.free_nodes = 1
    offer.save()
    [match] = open_market()
    assert match.workspace == first

    tamper("UPDATE marketplace_match SET workspace_id = %s", second.pk)
    WorkspaceEvent.objects.filter(workspace=first, state="MATCHED").update(
        workspace=second
    )

    (difference,) = replayed()
    assert f"request {second.pk} takes" in difference
    assert f"derived: request {first.pk} takes" in difference


def test_finds_a_book_that_does_not_lead_to_the_match(make_funded, offer, open_market):
    """
    Without its bid in the book, nobody would have taken anything.
    """
    make_funded(wanted_limit=Decimal("0.40"))
    [match] = open_market()
    tamper("UPDATE marketplace_matchrun SET bids = '[]'")

    (difference,) = replayed()
    assert difference.endswith("derived: nobody takes anything.")
    assert str(match.workspace_id) in difference


def test_finds_a_match_that_is_in_no_run(two_matches):
    tamper(
        "UPDATE marketplace_match SET run_id = NULL WHERE sequence = %s",
        two_matches[1].pk,
    )

    (difference,) = replayed()
    assert difference.startswith(f"Match {two_matches[1].pk} is in no run")


def test_finds_a_match_that_never_happened(two_matches):
    WorkspaceEvent.objects.filter(workspace=two_matches[0].workspace_id).delete()

    (difference,) = replayed()
    assert "not in the history of its workspace" in difference


def test_command_exits_with_an_error(two_matches, capsys):
    tamper("UPDATE marketplace_match SET hourly_price = 0.20")

    with pytest.raises(CommandError) as error:
        call_command("replay_matches")

    assert error.value.returncode == 1
    assert capsys.readouterr().err.count("derived: ") == 2


def test_the_task_tells_the_log(two_matches, caplog):
    tasks.replay_matches()
    assert not caplog.records

    tamper("UPDATE marketplace_match SET hourly_price = 0.20")
    tasks.replay_matches()

    assert [record.levelname for record in caplog.records] == ["CRITICAL"] * 2


def test_the_log_is_only_added_to(two_matches):
    services.replay_matches(at=NOON)
    for log in (MatchRun, Replay):
        with pytest.raises(IntegrityError, match="only added"), transaction.atomic():
            log.objects.update(at=NOON + HOUR)


def test_nobody_rents_from_themselves(make_funded, offer, open_market, rich_renter):
    """
    The renter acts for EverXCloud, so its node at 0.33 is left; 0.40 is the next.
    """
    SupplierMember.objects.create(
        supplier=offer.supplier,
        user=rich_renter,
        email=rich_renter.email,
        role=SupplierMember.Role.OWNER,
        invited_at=NOON,
        joined_at=NOON,
    )
    make_funded(wanted_limit=Decimal("0.40"))

    matches = open_market()

    assert offer not in [match.offer for match in matches]
    assert free_nodes(offer) == 12
    assert replayed() == []


def test_the_staff_page_shows_the_last_replay(two_matches, staff_client):
    page = staff_client.get("/staff/matches/").content.decode()
    assert "Nobody has replayed" in page

    tamper("UPDATE marketplace_match SET hourly_price = 0.20")
    answer = staff_client.post("/staff/matches/")

    assert answer.status_code == 302
    page = staff_client.get("/staff/matches/").content.decode()
    assert page.count("derived: ") == 2
