from datetime import UTC, datetime, timedelta

import pytest
from django.utils.html import strip_tags

import clock
from marketplace.models import Launch, LaunchEvent
from tests.workspaces.conftest import NOON
from workspaces.models import State

pytestmark = pytest.mark.django_db


@pytest.fixture
def _it_is_noon(monkeypatch):
    monkeypatch.setattr("clock.now", lambda: NOON)


def words(response):
    return " ".join(strip_tags(response.content.decode()).split())


@pytest.mark.usefixtures("_it_is_noon")
def test_plans_the_opening_in_the_zone_of_staff(staff_client, staff):
    staff.time_zone = "Europe/Berlin"
    staff.save()

    answer = staff_client.post("/staff/launch/", {"opens_at": "2026-12-12T15:00"})

    assert answer.status_code == 302
    opens_at = datetime(2026, 12, 12, 14, tzinfo=UTC)
    assert Launch.objects.get().opens_at == opens_at
    assert LaunchEvent.objects.get().actor == staff
    assert 'value="2026-12-12T15:00"' in staff_client.get(answer.url).content.decode()


@pytest.mark.usefixtures("_it_is_noon")
def test_a_time_that_has_passed_plans_nothing(staff_client):
    answer = staff_client.post("/staff/launch/", {"opens_at": "2026-11-30T12:00"})

    assert answer.status_code == 422
    assert "This time has passed" in words(answer)
    assert not LaunchEvent.objects.exists()


def test_a_date_that_is_none_plans_nothing(staff_client):
    assert staff_client.post("/staff/launch/", {"opens_at": "soon"}).status_code == 422
    assert not LaunchEvent.objects.exists()


@pytest.mark.usefixtures("_it_is_noon")
def test_asks_before_it_opens(staff_client, funded):
    page = words(staff_client.get("/staff/launch/open/"))

    assert "1 funded request waits" in page
    # 40 h at 0.33 are 13.20; the hold also covers what is stored.
    assert "RTX 4090 1 1 40 $13.20 $18.33" in page
    assert not Launch.objects.current().is_open


@pytest.mark.usefixtures("_it_is_noon")
def test_opens_once_however_often_it_is_pressed(staff_client, staff, funded):
    for _press in range(2):
        assert staff_client.post("/staff/launch/open/").status_code == 302

    assert Launch.objects.current().is_open
    event = LaunchEvent.objects.get()
    assert (event.kind, event.actor) == (LaunchEvent.Kind.OPENED, staff)
    # Matching is the worker's: the page wakes it up.
    funded.refresh_from_db()
    assert funded.state == State.FUNDED


def test_pauses_with_a_reason(staff_client):
    staff_client.post("/staff/launch/open/")

    assert staff_client.post("/staff/launch/pause/", {"reason": ""}).status_code == 422
    assert Launch.objects.current().is_open
    staff_client.post("/staff/launch/pause/", {"reason": "Paris is dark"})

    assert Launch.objects.current().pause_reason == "Paris is dark"


def test_says_why_it_cannot_pause(staff_client):
    answer = staff_client.post("/staff/launch/pause/", {"reason": "why"})

    assert answer.status_code == 422
    assert "not open" in words(answer)
    assert not LaunchEvent.objects.exists()


@pytest.mark.parametrize(
    "path",
    ["", "launch/", "launch/open/", "launch/pause/", "clock/", "look/"],
)
def test_is_not_there_for_a_renter(renter_client, client, path):
    assert renter_client.get(f"/staff/{path}").status_code == 404
    assert renter_client.post(f"/staff/{path}").status_code in {404, 405}
    assert client.get(f"/staff/{path}").status_code == 302
    assert not LaunchEvent.objects.exists()


@pytest.fixture
def _own_clock(settings, tmp_path):
    settings.DEMO_CLOCK_FILE = str(tmp_path / "clock")


@pytest.mark.usefixtures("_own_clock")
@pytest.mark.parametrize("hours", [1, 8, 24])
def test_moves_the_demos_clock(staff_client, hours):
    assert staff_client.post("/staff/clock/", {"hours": hours}).status_code == 302

    assert clock.demo_offset() == timedelta(hours=hours)


@pytest.mark.usefixtures("_own_clock")
@pytest.mark.parametrize("hours", ["-1", "2", "", "1e3"])
def test_moves_it_by_no_other_step(staff_client, hours):
    assert staff_client.post("/staff/clock/", {"hours": hours}).status_code == 422
    assert clock.demo_offset() == timedelta()
