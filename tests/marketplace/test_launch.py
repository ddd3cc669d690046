from datetime import UTC, datetime, timedelta
from functools import partial

import pytest
from django.db import IntegrityError, transaction

from marketplace import services, tasks
from marketplace.models import Launch, LaunchEvent
from tests.billing.processes import in_threads
from tests.workspaces.conftest import NOON as FUNDED_AT
from workspaces.models import State

pytestmark = pytest.mark.django_db

NOON = datetime(2026, 12, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
SECOND = timedelta(seconds=1)
LATER = FUNDED_AT + HOUR
Kind = LaunchEvent.Kind


def kinds():
    return list(LaunchEvent.objects.order_by("pk").values_list("kind", flat=True))


def test_the_database_keeps_one_row():
    Launch.objects.create()

    with pytest.raises(IntegrityError), transaction.atomic():
        Launch.objects.create(pk=2)


@pytest.mark.parametrize(
    "columns",
    [
        pytest.param({"paused_at": NOON, "pause_reason": "x"}, id="never opened"),
        pytest.param({"opened_at": NOON, "paused_at": NOON}, id="no reason"),
        pytest.param({"opened_at": NOON, "pause_reason": "x"}, id="not paused"),
    ],
)
def test_the_database_refuses_a_state_that_cannot_be(columns):
    with pytest.raises(IntegrityError), transaction.atomic():
        Launch.objects.create(**columns)


def test_is_closed_until_staff_say_otherwise():
    assert not Launch.objects.current().is_open


def test_a_planned_time_opens_nothing_before_it(staff):
    services.plan_opening(actor=staff, opens_at=NOON, at=NOON - HOUR)

    assert not services.open_when_due(at=NOON - SECOND)

    assert Launch.objects.current().opens_at == NOON
    assert not Launch.objects.current().is_open
    assert kinds() == [Kind.PLANNED]


@pytest.mark.parametrize(
    "late", [timedelta(), 3 * HOUR], ids=["on time", "after the worker was down"]
)
def test_opens_by_itself_once(staff, late):
    services.plan_opening(actor=staff, opens_at=NOON, at=NOON - HOUR)

    assert services.open_when_due(at=NOON + late)
    assert not services.open_when_due(at=NOON + late + HOUR)

    assert Launch.objects.current().opened_at == NOON + late
    assert kinds() == [Kind.PLANNED, Kind.OPENED]
    assert LaunchEvent.objects.latest("pk").actor is None


def test_does_not_open_without_a_plan():
    assert not services.open_when_due(at=NOON)

    assert not Launch.objects.current().is_open


def test_does_not_open_by_itself_what_staff_paused(staff):
    services.plan_opening(actor=staff, opens_at=NOON, at=NOON - 2 * HOUR)
    services.open_market(actor=staff, at=NOON - HOUR)
    services.pause_market(actor=staff, reason="Paris is dark", at=NOON - HOUR)

    assert not services.open_when_due(at=NOON)

    assert not Launch.objects.current().is_open


@pytest.mark.django_db(transaction=True)
def test_two_workers_open_it_once(staff):
    services.plan_opening(actor=staff, opens_at=NOON, at=NOON - HOUR)

    answers = in_threads(*[partial(services.open_when_due, at=NOON)] * 4)

    assert sorted(answers) == [False, False, False, True]
    assert kinds() == [Kind.PLANNED, Kind.OPENED]


def test_the_task_matches_what_it_opens(funded, staff, monkeypatch):
    services.plan_opening(actor=staff, opens_at=LATER, at=FUNDED_AT)
    monkeypatch.setattr("clock.now", lambda: LATER)

    tasks.open_when_due()

    funded.refresh_from_db()
    assert funded.state == State.MATCHED
    assert Launch.objects.current().matched_at == LATER


def test_opens_once(staff):
    services.open_market(actor=staff, at=NOON)
    services.open_market(actor=staff, at=NOON + HOUR)

    launch = Launch.objects.current()
    assert launch.is_open
    assert launch.opened_at == NOON
    assert kinds() == [Kind.OPENED]


def test_pauses_with_a_reason_and_opens_again(staff):
    services.open_market(actor=staff, at=NOON)

    services.pause_market(actor=staff, reason=" Paris is dark ", at=NOON + HOUR)
    paused = Launch.objects.current()
    services.open_market(actor=staff, at=NOON + 2 * HOUR)

    assert not paused.is_open
    assert paused.pause_reason == "Paris is dark"
    assert Launch.objects.current().is_open
    assert Launch.objects.current().opened_at == NOON
    assert kinds() == [Kind.OPENED, Kind.PAUSED, Kind.RESUMED]


def test_refuses_a_pause_without_a_reason(staff):
    services.open_market(actor=staff, at=NOON)

    with pytest.raises(services.ReasonMissing, match="Write why"):
        services.pause_market(actor=staff, reason="  ", at=NOON)

    assert Launch.objects.current().is_open
    assert kinds() == [Kind.OPENED]


def test_refuses_to_pause_what_never_opened(staff):
    with pytest.raises(services.NotOpen, match="not open"):
        services.pause_market(actor=staff, reason="why", at=NOON)

    assert kinds() == []
