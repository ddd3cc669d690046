from datetime import timedelta

import pytest
from django.core.management import call_command

from billing.services import bill_due
from billing.services.wallets import freeze_wallet
from tests.workspaces.conftest import (
    DAY,
    HOUR,
    NOON,
    free_nodes,
    hold_on,
    matched_at,
    usd,
    wallet_of,
)
from workspaces import services, tasks
from workspaces.models import State, Workspace
from workspaces.provisioner import Failed, Ready
from workspaces.provisioners import simulated

SECOND = timedelta(seconds=1)


def state_of(workspace):
    return Workspace.objects.values_list("state", flat=True).get(pk=workspace.pk)


def test_provision_sets_up_and_hands_over_after_the_simulated_time(matched, settings):
    settings.SIMULATED_PROVISIONING_SECONDS = 5

    assert services.provision_due(at=NOON) == 0
    assert state_of(matched) == State.PROVISIONING
    assert services.provision_due(at=NOON + 4 * SECOND) == 0
    assert state_of(matched) == State.PROVISIONING
    assert services.provision_due(at=NOON + 5 * SECOND) == 1

    running = Workspace.objects.get()
    assert running.state == State.RUNNING
    assert running.started_at == NOON + 5 * SECOND
    code = running.code.lower()
    assert running.ssh_command == (
        f"ssh -p 22022 root@{code}.eu-central-frankfurt.invalid"
    )


def test_provision_leaves_everything_else_alone(funded):
    assert services.provision_due(at=NOON) == 0
    assert state_of(funded) == State.FUNDED


def test_provision_gives_a_start_up_that_cannot_work(matched, monkeypatch):
    monkeypatch.setattr(
        simulated, "check", lambda workspace, *, at: Failed("No such image.")
    )

    assert services.provision_due(at=NOON) == 1

    assert state_of(matched) == State.FAILED
    assert matched.events.get(state=State.FAILED).reason == "No such image."
    assert wallet_of(matched.user).available == usd(100)


def test_one_broken_workspace_does_not_stop_the_others(
    make_funded, offer, monkeypatch, caplog
):
    broken, sound = (matched_at(make_funded(hours=hours), offer) for hours in (8, 9))
    check = simulated.check

    def break_one(workspace, *, at):
        if workspace.pk == broken.pk:
            raise RuntimeError("The hypervisor is gone.")
        return check(workspace, at=at)

    monkeypatch.setattr(simulated, "check", break_one)
    services.provision_due(at=NOON)
    services.provision_due(at=NOON + DAY)

    assert state_of(broken) == State.PROVISIONING
    assert state_of(sound) == State.RUNNING
    assert "The hypervisor is gone." in caplog.text


def test_nothing_ends_before_its_time(running):
    assert services.end_due(at=NOON + 40 * HOUR - SECOND) == 0
    assert state_of(running) == State.RUNNING


def test_a_workspace_stops_by_itself_and_keeps_its_data(running, offer):
    assert services.end_due(at=NOON + 40 * HOUR) == 1

    stopped = Workspace.objects.get()
    assert stopped.state == State.STOPPED
    assert stopped.stopped_at == NOON + 40 * HOUR
    assert stopped.kept_until == NOON + 40 * HOUR + 7 * DAY
    assert stopped.events.order_by("pk").last().actor is None
    assert free_nodes(offer) == 12


def test_without_paid_days_it_ends_by_itself(make_funded, offer):
    funded = make_funded(kept_days=0)
    matched_at(funded, offer)
    services.provision_due(at=NOON)
    services.provision_due(at=NOON + 5 * SECOND)

    services.end_due(at=NOON + 41 * HOUR)

    ended = Workspace.objects.get()
    assert ended.state == State.ENDED
    assert ended.stopped_at == NOON + 40 * HOUR + 5 * SECOND
    assert hold_on(ended).captured == usd("14.19")
    assert wallet_of(ended.user).held == usd(0)


@pytest.mark.parametrize("is_billed_first", [True, False])
def test_an_outage_of_days_charges_nothing_extra(running, quote, is_billed_first):
    late = NOON + 20 * DAY
    if is_billed_first:
        bill_due(at=late)

    assert services.end_due(at=late) == 1
    assert services.end_due(at=late) == 1
    assert services.end_due(at=late) == 0

    deleted = Workspace.objects.get()
    assert deleted.state == State.DELETED
    moments = deleted.events.order_by("pk").values_list("at", flat=True)
    assert list(moments)[-2:] == [NOON + 40 * HOUR, NOON + 40 * HOUR + 7 * DAY]
    assert hold_on(deleted).captured == quote.hold_amount
    assert wallet_of(deleted.user).available == usd("81.67")


@pytest.mark.parametrize("is_queued", [True, False])
def test_a_request_ends_at_its_start_deadline(make_funded, is_queued):
    funded = make_funded(start_deadline=NOON + DAY)
    if is_queued:
        services.queue_funded(at=NOON)

    assert services.end_due(at=NOON + DAY - SECOND) == 0
    assert services.end_due(at=NOON + DAY) == 1

    assert state_of(funded) == State.EXPIRED
    assert wallet_of(funded.user).available == usd(100)


def test_tasks_and_commands_do_the_same_work(matched, time_machine, capsys):
    time_machine.move_to(NOON, tick=False)
    tasks.provision_due()
    time_machine.move_to(NOON + 5 * SECOND, tick=False)
    call_command("provision_due")
    assert state_of(matched) == State.RUNNING

    time_machine.move_to(NOON + 41 * HOUR, tick=False)
    tasks.end_due()
    assert state_of(matched) == State.STOPPED
    time_machine.move_to(NOON + 50 * DAY, tick=False)
    call_command("end_due")

    assert state_of(matched) == State.DELETED
    assert capsys.readouterr().out == "1 workspaces moved on.\n1 workspaces ended.\n"


def test_a_renter_who_cancels_meanwhile_is_not_overruled(matched, monkeypatch):
    def cancelled_meanwhile(workspace, *, at):
        services.cancel_workspace(
            workspace_id=workspace.pk, actor=workspace.user, at=at
        )
        return Ready("root@10.0.0.7:22022")

    monkeypatch.setattr(simulated, "check", cancelled_meanwhile)

    assert services.provision_due(at=NOON) == 0

    assert state_of(matched) == State.CANCELLED
    assert wallet_of(matched.user).available == usd(100)


def freeze(workspace, *, at):
    freeze_wallet(user_id=workspace.user_id, currency="USD", at=at)


def test_m23_a_dispute_stops_what_runs_and_keeps_the_data_paid_for(running):
    freeze(running, at=NOON + HOUR)

    assert services.stop_disputed(at=NOON + HOUR) == 1

    running.refresh_from_db()
    assert running.state == State.STOPPED
    assert "disputed" in running.events.get(state=State.STOPPED).reason
    assert services.stop_disputed(at=NOON + HOUR) == 0


def test_a_dispute_cancels_what_waits_and_gives_the_hold_back(funded):
    freeze(funded, at=NOON)

    assert services.stop_disputed(at=NOON) == 1

    assert state_of(funded) == State.CANCELLED
    assert wallet_of(funded.user).held == usd(0)


def test_a_dispute_leaves_what_other_wallets_pay_for(running):
    freeze_wallet(user_id=running.user_id, currency="EUR", at=NOON)

    assert services.stop_disputed(at=NOON + HOUR) == 0
    assert state_of(running) == State.RUNNING
