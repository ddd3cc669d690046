from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from django.db import IntegrityError
from django.db.transaction import atomic

from billing.models import Account, Charge, MeterFault
from billing.services import bill_due, charges_of
from catalog.models import GpuModel, Offer, StoragePlan
from tests.workspaces.conftest import (
    ADDRESS,
    DAY,
    HOUR,
    MINUTE,
    NOON,
    free_nodes,
    hold_on,
    matched_at,
    started_at,
    usd,
    wallet_of,
)
from workspaces import services
from workspaces.models import State, Workspace
from workspaces.states import RULES


def last_event(workspace):
    return workspace.events.order_by("pk").last()


def test_queue_funded_moves_every_request(make_funded):
    first, second = make_funded(), make_funded(hours=8)

    assert services.queue_funded(at=NOON + HOUR) == 2
    assert services.queue_funded(at=NOON + HOUR) == 0

    assert {w.state for w in Workspace.objects.all()} == {State.QUEUED}
    for workspace in (first, second):
        assert last_event(workspace).at == NOON + HOUR
        assert workspace.events.count() == 2


def test_match_gives_back_what_the_limit_was_too_high(make_funded, offer):
    # 40 h at 0.40 are 16.00, with storage 21.13; at 0.33 it is 18.33.
    funded = make_funded(wanted_limit=usd("0.40").amount)
    assert hold_on(funded).amount == usd("21.13")

    matched = matched_at(funded, offer)

    assert matched.state == State.MATCHED
    assert matched.offer == offer
    assert matched.hourly_price == usd("0.33")
    assert last_event(matched).returned == usd("2.80").amount
    assert hold_on(matched).remaining == usd("18.33")
    assert wallet_of(matched.user).available == usd("81.67")


def test_match_at_the_limit_gives_nothing_back(matched):
    assert last_event(matched).returned == 0
    assert hold_on(matched).released == usd(0)


def test_provisioning_is_free(provisioning):
    run = bill_due(at=NOON + 3 * HOUR)

    assert run.charges == 0
    assert provisioning.provisioning_at == NOON
    assert hold_on(provisioning).remaining == usd("18.33")


def test_start_begins_the_clock_at_ready(provisioning):
    ready = NOON + 17 * MINUTE + timedelta(microseconds=999_999)

    running = services.start_workspace(
        workspace_id=provisioning.pk, address=ADDRESS, at=ready
    )

    assert running.state == State.RUNNING
    assert running.started_at == NOON + 17 * MINUTE
    assert running.ends_at == NOON + 17 * MINUTE + 40 * HOUR
    assert running.ssh_command == "ssh -p 22022 root@10.0.0.7"


def test_the_set_up_is_never_billed(provisioning):
    services.start_workspace(
        workspace_id=provisioning.pk, address=ADDRESS, at=NOON + 90 * MINUTE
    )

    bill_due(at=NOON + 2 * HOUR)

    # From 13:30 to 14:00: half of 0.33 is 0.165, half of 0.0247 is 0.0123.
    charges = charges_of(hold_id=Workspace.objects.get().hold_id)
    assert [(c.meter_name, c.seconds, c.amount) for c in charges] == [
        ("compute", 1800, usd("0.17")),
        ("storage", 1800, usd("0.01")),
    ]


def test_pays_the_supplier_less_the_fee(running):
    services.stop_workspace(
        workspace_id=running.pk, actor=None, at=NOON + HOUR, keep_data=False
    )

    # 0.33 and 0.02: fees of 0.033 and 0.002 are rounded to 0.03 and 0.00.
    payable = Account.objects.get(kind="PAYABLE", party="supplier:everxcloud")
    assert payable.balance == usd("0.32")
    assert Account.objects.get(kind="FEES", currency="USD").balance == usd("0.03")


def test_bills_the_whole_rental_to_the_cent_of_the_quote(running, quote):
    bill_due(at=NOON + 40 * HOUR)
    services.end_due(at=NOON + 40 * HOUR)
    at_end = Workspace.objects.get()
    billed = sum(c.amount.amount for c in charges_of(hold_id=running.hold_id))
    assert at_end.state == State.STOPPED
    assert billed == (quote.compute_cost + quote.storage_cost).amount

    end = NOON + 40 * HOUR + 7 * DAY
    bill_due(at=end)
    services.end_due(at=end)

    assert Workspace.objects.get().state == State.DELETED
    assert hold_on(running).captured == quote.hold_amount == usd("18.33")
    assert hold_on(running).status == "CAPTURED"
    assert wallet_of(running.user).held == usd(0)
    assert wallet_of(running.user).available == usd("81.67")


def test_stop_bills_to_the_second(running, offer):
    # 10 h and 7 s: 36,007 x 0.33 / 3600 = 3.3006; storage 36,007 x 18 / 2,628,000.
    at = NOON + 10 * HOUR + timedelta(seconds=7, microseconds=900_000)

    ended = services.stop_workspace(
        workspace_id=running.pk, actor=running.user, at=at, keep_data=False
    )

    assert ended.state == State.ENDED
    assert ended.stopped_at == NOON + 10 * HOUR + timedelta(seconds=7)
    assert hold_on(running).captured == usd("3.55")
    assert sum(c.seconds for c in Charge.objects.filter(meter__name="compute")) == 36007
    assert last_event(ended).returned == usd("14.78").amount
    assert wallet_of(running.user).available == usd("96.45")
    assert free_nodes(offer) == 12


def test_stop_in_the_second_of_the_start_costs_nothing(running):
    ended = services.stop_workspace(
        workspace_id=running.pk, actor=running.user, at=NOON, keep_data=False
    )

    assert ended.state == State.ENDED
    assert wallet_of(running.user).available == usd(100)


def test_stop_and_keep_leaves_the_paid_days_of_storage(stopped, offer):
    # 10 h: 3.30 and 0.25. Storage until the end of 7 days: 178 h x 18 / 730 = 4.389.
    assert stopped.state == State.STOPPED
    assert stopped.kept_until == NOON + 10 * HOUR + 7 * DAY
    assert free_nodes(offer) == 12
    hold = hold_on(stopped)
    assert hold.amount - hold.released == usd("7.69")

    bill_due(at=stopped.kept_until)
    services.end_due(at=stopped.kept_until)

    assert hold_on(stopped).captured == usd("7.69")
    assert wallet_of(stopped.user).held == usd(0)


def test_stopped_pays_for_storage_only(stopped):
    bill_due(at=NOON + 14 * HOUR)

    charges = charges_of(hold_id=stopped.hold_id)
    later = [c for c in charges if c.from_at >= NOON + 10 * HOUR]
    assert {c.meter_name for c in later} == {"storage"}
    assert sum(c.seconds for c in later) == 4 * 3600


def test_stop_cannot_keep_what_nobody_paid_for(make_funded, offer):
    running = started_at(matched_at(make_funded(kept_days=0), offer))

    with pytest.raises(services.NothingToKeep):
        services.stop_workspace(
            workspace_id=running.pk, actor=None, at=NOON + HOUR, keep_data=True
        )

    assert Workspace.objects.get().state == State.RUNNING
    assert not Charge.objects.exists()


@pytest.mark.parametrize("is_billed_first", [True, False])
def test_a_late_stop_counts_as_the_end_and_its_data_stay_until_then(
    running, is_billed_first
):
    """
    40 h of compute are 13.20, and 45 h of 200 GB at 0.09 a month are 1.11: what it
    costs had it stopped by itself, and somebody deleted the data five hours later.
    """
    if is_billed_first:
        bill_due(at=NOON + 44 * HOUR)

    ended = services.stop_workspace(
        workspace_id=running.pk,
        actor=running.user,
        at=NOON + 45 * HOUR,
        keep_data=False,
    )

    assert ended.stopped_at == NOON + 40 * HOUR
    assert hold_on(running).captured == usd("14.31")
    assert not MeterFault.objects.exists()


def test_delete_gives_the_unused_days_back(stopped):
    deleted = services.delete_data(
        workspace_id=stopped.pk, actor=stopped.user, at=NOON + 34 * HOUR
    )

    # Storage for 34 h: 34 x 18 / 730 = 0.838; with the GPU's 3.30 that is 4.14.
    assert deleted.state == State.DELETED
    assert hold_on(stopped).captured == usd("4.14")
    assert wallet_of(stopped.user).available == usd("95.86")


@pytest.mark.parametrize("state", ["funded", "queued", "matched", "provisioning"])
def test_cancel_before_the_start_gives_everything_back(request, funded, offer, state):
    if state == "queued":
        services.queue_funded(at=NOON)
    elif state != "funded":
        request.getfixturevalue(state)

    cancelled = services.cancel_workspace(
        workspace_id=funded.pk, actor=funded.user, at=NOON + HOUR
    )

    assert cancelled.state == State.CANCELLED
    assert last_event(cancelled).actor == funded.user
    assert last_event(cancelled).returned == usd("18.33").amount
    assert hold_on(funded).status == "RELEASED"
    assert wallet_of(funded.user).available == usd(100)
    assert free_nodes(offer) == 12


@pytest.mark.parametrize("state", ["matched", "provisioning"])
def test_a_failed_start_costs_nothing(request, state, offer):
    workspace = request.getfixturevalue(state)
    assert free_nodes(offer) == 11

    failed = services.fail_workspace(
        workspace_id=workspace.pk, reason="The node did not boot.", at=NOON + HOUR
    )

    assert failed.state == State.FAILED
    assert last_event(failed).reason == "The node did not boot."
    assert last_event(failed).returned == usd("18.33").amount
    assert wallet_of(workspace.user).available == usd(100)
    assert wallet_of(workspace.user).held == usd(0)
    assert free_nodes(offer) == 12


def test_a_failure_after_a_match_below_the_limit_gives_the_rest_back(
    make_funded, offer
):
    matched = matched_at(make_funded(wanted_limit=usd("0.40").amount), offer)

    failed = services.fail_workspace(workspace_id=matched.pk, reason="broken", at=NOON)

    assert last_event(failed).returned == usd("18.33").amount
    assert wallet_of(matched.user).available == usd(100)


def test_only_the_meters_of_the_state_run(running):
    stages = [running]
    stages.append(
        services.stop_workspace(
            workspace_id=running.pk, actor=None, at=NOON, keep_data=True
        )
    )
    stages.append(services.delete_data(workspace_id=running.pk, actor=None, at=NOON))

    for workspace in stages:
        rule = RULES[State(workspace.state)]
        assert (workspace.compute_meter_id is not None) == rule.is_compute_charged
        assert (workspace.storage_meter_id is not None) == rule.is_storage_charged


def test_the_database_refuses_compute_outside_of_running(stopped):
    with pytest.raises(IntegrityError, match="compute_only_while_running"), atomic():
        Workspace.objects.update(state=State.RUNNING)


def test_a_day_with_a_change_of_clocks_costs_its_real_hours(matched):
    # CASES R36. In Berlin 28 March 2027 has 23 hours: 23 x 0.33 are 7.59.
    midnight = datetime(2027, 3, 28, tzinfo=ZoneInfo("Europe/Berlin"))
    next_midnight = datetime(2027, 3, 29, tzinfo=ZoneInfo("Europe/Berlin"))
    running = started_at(matched, at=midnight)

    services.stop_workspace(
        workspace_id=running.pk, actor=None, at=next_midnight, keep_data=False
    )

    compute = Charge.objects.filter(meter__name="compute")
    assert compute.count() == 23
    assert sum(charge.amount.amount for charge in compute) == usd("7.59").amount


def test_several_gpus_are_charged_each(make_funded):
    # 8 x B200 at 5.29 an hour each: half an hour is 21.16.
    pair = GpuModel.objects.get(slug="b200")
    offer = Offer.objects.get(gpu=pair, gpus_per_node=8)
    funded = make_funded(gpu=pair, gpus=8, hours=2, storage_gb=17, kept_days=0)
    running = started_at(matched_at(funded, offer, price="5.29"))

    services.stop_workspace(
        workspace_id=running.pk, actor=None, at=NOON + HOUR / 2, keep_data=False
    )

    compute = Charge.objects.get(meter__name="compute")
    assert compute.amount == usd("21.16")
    assert running.burn.amount > usd("42.32").amount


def test_free_storage_runs_no_meter_and_is_kept(make_funded, offer):
    StoragePlan.objects.filter(slug="persistent").update(monthly_price=0)
    plan = StoragePlan.objects.get(slug="persistent")
    running = started_at(matched_at(make_funded(storage_plan=plan), offer))

    stopped = services.stop_workspace(
        workspace_id=running.pk, actor=None, at=NOON + HOUR, keep_data=True
    )

    assert running.storage_meter_id is None
    assert stopped.kept_until == NOON + HOUR + 7 * DAY
    assert stopped.ssh_command == ""
    assert hold_on(stopped).remaining == usd(0)
    assert wallet_of(stopped.user).available == usd("99.67")
    services.end_due(at=stopped.kept_until)
    assert Workspace.objects.get().state == State.DELETED
    assert hold_on(stopped).status == "CAPTURED"
