from datetime import timedelta

import pytest
from django.urls import reverse

from tests.conftest import logged_in
from tests.workspaces.conftest import (
    HOUR,
    MINUTE,
    NOON,
    free_nodes,
    hold_on,
    usd,
    wallet_of,
)
from tests.workspaces.test_ssh_keys import GITHUB
from workspaces import services
from workspaces.models import Code, State, Workspace
from workspaces.provisioner import Failed, Late, Pending, Ready
from workspaces.provisioners import manual, simulated

MACHINES = reverse("workspaces:machines")
SECOND = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def at_noon(time_machine):
    time_machine.move_to(NOON, tick=False)


def begun(matched):
    return services.begin_provisioning(workspace_id=matched.pk, at=NOON)


# --- simulated


def test_the_same_seed_gives_the_same_machine(provisioning, settings):
    first = simulated.check(provisioning, at=NOON + HOUR)
    again = simulated.check(provisioning, at=NOON + 2 * HOUR)
    settings.SIMULATED_SEED = 2
    other = simulated.check(provisioning, at=NOON + HOUR)

    assert isinstance(first, Ready)
    assert first == again
    assert first.host_key.startswith("ssh-ed25519 ")
    assert other.host_key != first.host_key


def test_the_delay_lies_within_its_spread(provisioning, settings):
    settings.SIMULATED_PROVISIONING_SECONDS = 100
    settings.SIMULATED_PROVISIONING_SPREAD_SECONDS = 50

    assert simulated.check(provisioning, at=NOON + 99 * SECOND) == Pending()
    assert isinstance(simulated.check(provisioning, at=NOON + 150 * SECOND), Ready)


@pytest.mark.parametrize(
    ("failures", "late", "kind"), [(100, 0, Failed), (0, 100, Late), (0, 0, Ready)]
)
def test_what_goes_wrong_can_be_set(provisioning, settings, failures, late, kind):
    settings.SIMULATED_FAILURE_PERCENT = failures
    settings.SIMULATED_LATE_PERCENT = late

    assert isinstance(simulated.check(provisioning, at=NOON + HOUR), kind)


def test_about_as_many_fail_as_was_set(provisioning, settings):
    settings.SIMULATED_FAILURE_PERCENT = 30
    failed = 0
    for seed in range(200):
        settings.SIMULATED_SEED = seed
        failed += isinstance(simulated.check(provisioning, at=NOON + HOUR), Failed)

    assert 40 < failed < 80


# --- manual


@pytest.fixture
def by_hand(settings):
    settings.PROVISIONER = "manual"
    settings.MANUAL_START_MINUTES = 60


def test_nothing_starts_by_itself(by_hand, matched):
    services.provision_due(at=NOON)
    services.provision_due(at=NOON + 59 * MINUTE)

    workspace = Workspace.objects.get()
    assert workspace.state == State.PROVISIONING
    assert manual.observe(workspace, at=NOON) is None


def test_a_start_that_nobody_confirms_waits_for_another_node(by_hand, matched, offer):
    services.provision_due(at=NOON)

    assert services.provision_due(at=NOON + 60 * MINUTE) == 1

    waiting = Workspace.objects.get()
    assert waiting.state == State.QUEUED
    assert waiting.events.latest("pk").code == Code.START_LATE
    assert free_nodes(offer) == 12
    assert hold_on(waiting).remaining == usd("18.33")


def typed_start(**changes):
    return {
        "host": "10.0.0.7",
        "port": "22022",
        "login": "root",
        "host_key": GITHUB,
        **changes,
    }


def start_page(workspace):
    return reverse("workspaces:staff_start", args=[workspace.pk])


def test_staff_confirm_a_start(by_hand, matched, staff_client, staff):
    workspace = begun(matched)
    services.add_key(user=matched.user, pasted=GITHUB, name="Laptop", at=NOON)
    assert matched.code in staff_client.get(MACHINES).content.decode()
    assert GITHUB in staff_client.get(start_page(workspace)).content.decode()

    response = staff_client.post(start_page(workspace), typed_start(), follow=True)

    running = Workspace.objects.with_names().get()
    assert "the clock runs" in response.content.decode()
    assert running.state == State.RUNNING
    assert running.ssh_command == "ssh -p 22022 root@10.0.0.7"
    assert running.host_key == GITHUB
    assert running.events.latest("pk").actor == staff
    assert running.started_at == NOON


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"host": "https://x"}, "without a port and without https"),
        ({"login": "root;x"}, "name of a user"),
        ({"host_key": "hello"}, "not a public key"),
        ({"port": "0"}, "greater than or equal to 1"),
    ],
)
def test_a_start_that_cannot_be_true_is_refused(
    by_hand, matched, staff_client, changes, says
):
    workspace = begun(matched)

    response = staff_client.post(start_page(workspace), typed_start(**changes))

    assert response.status_code == 422
    assert says in response.content.decode()
    assert Workspace.objects.get().state == State.PROVISIONING


def test_staff_refuse_a_start(by_hand, matched, staff_client):
    workspace = begun(matched)

    staff_client.post(
        reverse("workspaces:staff_fail", args=[workspace.pk]),
        {"reason": "The node has no power."},
    )

    failed = Workspace.objects.get()
    assert failed.state == State.FAILED
    assert failed.events.latest("pk").reason == "The node has no power."
    assert wallet_of(failed.user).available == usd(100)


def test_staff_note_an_interruption(running, staff, time_machine):
    time_machine.move_to(NOON + 90 * MINUTE, tick=False)
    staff_client = logged_in(staff)
    page = reverse("workspaces:staff_interrupt", args=[running.pk])
    assert staff_client.get(page).status_code == 200

    staff_client.post(
        page,
        {"code": "POWER", "reason": "The hall is dark.", "is_withdrawn": "on"},
    )

    waiting = Workspace.objects.get()
    assert waiting.state == State.QUEUED
    assert waiting.events.latest("pk").reason == "The hall is dark."
    running.offer.refresh_from_db()
    assert running.offer.nodes == 11


@pytest.mark.parametrize("name", ["staff_start", "staff_fail", "staff_interrupt"])
def test_nobody_else_does_that(renter_client, provisioning, name):
    page = reverse(f"workspaces:{name}", args=[provisioning.pk])

    assert renter_client.get(page).status_code == 404
    assert renter_client.post(page, typed_start()).status_code == 404
    assert Workspace.objects.get().state == State.PROVISIONING
