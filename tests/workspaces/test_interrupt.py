"""
The supplier's side breaks off: the broken hour is free, the request waits again.

An hour of the RTX 4090 is 0.33, and of 200 GB 18/730 = 0.0247.
"""

from datetime import timedelta
from itertools import pairwise

import pytest

from billing.services import bill_due, charges_of
from catalog.models import Offer
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
from workspaces.models import Code, State, Workspace
from workspaces.services import IllegalMove, interrupt_workspace, stop_workspace


def interrupt(workspace, *, at=NOON + 10 * HOUR + 25 * MINUTE, **told):
    return interrupt_workspace(
        workspace_id=workspace.pk,
        code=Code.HARDWARE,
        at=at,
        reason="GPU 0 fell off the bus.",
        **told,
    )


def start_again(workspace, offer, *, at, price="0.33"):
    services.match_workspace(
        workspace_id=workspace.pk, offer_id=offer.pk, hourly_price=usd(price), at=at
    )
    return started_at(workspace, at=at)


def test_the_broken_hour_is_free(running, offer):
    interrupted = interrupt(running)

    # Ten hours: 3.30 and 0.2466; the 25 minutes of the eleventh are free.
    assert hold_on(running).captured == usd("3.55")
    assert {charge.to_at for charge in charges_of(hold_id=running.hold_id)} <= {
        NOON + hours * HOUR for hours in range(1, 11)
    }
    assert interrupted.state == State.QUEUED
    assert interrupted.seconds_run == 10 * 3600
    assert interrupted.seconds_left == 30 * 3600
    assert (interrupted.compute_meter, interrupted.storage_meter_id) == (None, None)
    assert interrupted.ssh_command == ""


def test_a_run_within_one_hour_costs_nothing(running):
    interrupt(running, at=NOON + 59 * MINUTE)

    assert hold_on(running).captured == usd(0)
    assert Workspace.objects.get().seconds_left == 40 * 3600


def test_hours_that_were_full_stay_billed(running):
    bill_due(at=NOON + 10 * HOUR + 20 * MINUTE)

    interrupt(running)

    assert hold_on(running).captured == usd("3.55")


def test_r51_says_why(running, staff):
    interrupted = interrupt(running, actor=staff)

    event = interrupted.events.latest("pk")
    assert event.is_interruption
    assert (event.code, event.reason) == (Code.HARDWARE, "GPU 0 fell off the bus.")
    assert (event.actor, event.offer_id) == (staff, running.offer_id)


@pytest.mark.parametrize(("is_withdrawn", "nodes"), [(False, 12), (True, 11)])
def test_the_node_is_returned_or_withdrawn(running, offer, is_withdrawn, nodes):
    interrupt(running, is_withdrawn=is_withdrawn)

    after = Offer.objects.get(pk=offer.pk)
    assert (after.nodes, after.free_nodes) == (nodes, nodes)


def test_it_keeps_its_place_in_the_queue(running):
    interrupted = interrupt(running)

    assert interrupted.funded_at == running.funded_at
    assert list(Workspace.objects.queued()) == [interrupted]


def test_its_start_deadline_no_longer_ends_it(make_funded, offer):
    running = started_at(
        matched_at(make_funded(start_deadline=NOON + 11 * HOUR), offer)
    )
    interrupt(running)

    assert services.end_due(at=NOON + 12 * HOUR) == 0
    assert Workspace.objects.get().state == State.QUEUED


def test_its_limit_counts_again_while_the_wallet_covers_it(make_funded, offer):
    # At the limit of 0.40 the 30 h left cost 12.00, at 0.33 9.90: 2.10 more.
    running = started_at(
        matched_at(make_funded(wanted_limit=usd("0.40").amount), offer)
    )
    assert wallet_of(running.user).available == usd("81.67")

    interrupted = interrupt(running)

    event = interrupted.events.latest("pk")
    assert event.held == usd("2.10").amount
    assert interrupted.limit_price == usd("0.40")
    again = start_again(interrupted, offer, at=NOON + 11 * HOUR, price="0.40")
    assert again.ends_at == NOON + 41 * HOUR
    assert again.hourly_price == usd("0.40")


def test_without_money_the_agreed_price_is_the_limit(make_funded, offer, make_quote):
    running = started_at(
        matched_at(make_funded(wanted_limit=usd("0.40").amount), offer)
    )
    # 81.67 are free: 190 h at 0.33 and 200 GB for 190 h take 67.38 of them.
    spend_rest(make_quote)

    interrupted = interrupt(running)

    assert interrupted.limit_price == usd("0.33")
    assert interrupted.events.latest("pk").held == 0
    again = start_again(interrupted, offer, at=NOON + 11 * HOUR)
    assert again.state == State.RUNNING
    # What two roundings took is not owed: at most two minutes are missing.
    assert NOON + 41 * HOUR - again.ends_at <= 4 * MINUTE


def spend_rest(make_quote):
    for hours in (190, 30, 1):
        quote = make_quote(hours=hours, kept_days=0)
        while wallet_of(quote.user).available >= quote.hold_amount:
            services.fund_workspace(user=quote.user, quote_id=quote.pk, at=NOON)
            quote = make_quote(hours=hours, kept_days=0)


def test_every_hour_is_paid_once_however_often_it_breaks(running, offer):
    # CASES M56c: billed seconds are the seconds that it ran in full hours.
    workspace = running
    for number in range(3):
        start = NOON + number * 6 * HOUR
        interrupt(workspace, at=start + 3 * HOUR + 30 * MINUTE)
        workspace = start_again(workspace, offer, at=start + 6 * HOUR)
    services.end_workspace(workspace_id=workspace.pk, at=NOON + 60 * HOUR)

    compute = [
        charge
        for charge in charges_of(hold_id=running.hold_id)
        if charge.meter_name == "compute"
    ]
    assert sum(charge.seconds for charge in compute) == 40 * 3600
    periods = sorted((charge.from_at, charge.to_at) for charge in compute)
    assert all(first[1] <= second[0] for first, second in pairwise(periods))
    ended = Workspace.objects.get()
    assert ended.seconds_run == 40 * 3600
    assert ended.stopped_at == NOON + 18 * HOUR + 31 * HOUR


def test_m52_each_node_is_billed_at_its_own_price(make_funded, offer):
    # 3 h at 0.35 and 3 h at 1.10 are 4.35.
    funded = make_funded(
        wanted_limit=usd("1.10").amount, hours=6, storage_gb=17, kept_days=0
    )
    running = started_at(matched_at(funded, offer, price="0.35"))

    interrupt(running, at=NOON + 3 * HOUR)
    again = start_again(running, offer, at=NOON + 5 * HOUR, price="1.10")
    services.end_workspace(workspace_id=again.pk, at=NOON + 8 * HOUR)

    compute = [
        charge.amount
        for charge in charges_of(hold_id=running.hold_id)
        if charge.meter_name == "compute"
    ]
    assert sum(compute, usd(0)) == usd("4.35")
    assert Workspace.objects.get().state == State.ENDED
    assert wallet_of(running.user).held == usd(0)


def test_it_can_be_given_up_and_its_data_kept(running):
    interrupted = interrupt(running)

    stopped = stop_workspace(
        workspace_id=interrupted.pk,
        actor=running.user,
        at=NOON + 12 * HOUR,
        keep_data=True,
    )

    # Waiting was free; the seven days begin now: 168 x 18 / 730 = 4.14.
    assert stopped.state == State.STOPPED
    assert stopped.kept_until == NOON + 12 * HOUR + 7 * DAY
    assert hold_on(stopped).remaining == usd("4.14")


def test_it_can_be_given_up_for_good(running):
    interrupted = interrupt(running)

    ended = stop_workspace(
        workspace_id=interrupted.pk,
        actor=running.user,
        at=NOON + 12 * HOUR,
        keep_data=False,
    )

    assert ended.state == State.ENDED
    assert wallet_of(running.user).available == usd("96.45")
    assert wallet_of(running.user).held == usd(0)


def test_what_has_run_is_not_cancelled(running):
    interrupted = interrupt(running)

    with pytest.raises(IllegalMove):
        services.cancel_workspace(
            workspace_id=interrupted.pk, actor=running.user, at=NOON + 12 * HOUR
        )

    assert Workspace.objects.get().state == State.QUEUED


def test_after_its_end_it_was_no_interruption(running):
    interrupt(running, at=NOON + 40 * HOUR)

    stopped = Workspace.objects.get()
    assert stopped.state == State.STOPPED
    assert hold_on(stopped).captured == usd("13.20")


@pytest.mark.parametrize("state", ["funded", "provisioning", "stopped"])
def test_only_what_runs_can_be_interrupted(request, state):
    workspace = request.getfixturevalue(state)

    with pytest.raises(IllegalMove):
        interrupt(workspace)

    assert Workspace.objects.get().state == workspace.state


def test_a_second_failure_to_start_sends_it_back_again(running, offer):
    interrupted = interrupt(running)
    services.match_workspace(
        workspace_id=interrupted.pk,
        offer_id=offer.pk,
        hourly_price=usd("0.33"),
        at=NOON + 11 * HOUR,
    )

    back = services.fail_workspace(
        workspace_id=interrupted.pk, reason="It did not boot.", at=NOON + 12 * HOUR
    )

    assert back.state == State.QUEUED
    assert back.avoided_offers == [offer.pk]
    assert back.seconds_left == 30 * 3600


def test_it_starts_again_for_the_time_that_was_left(running, offer):
    interrupt(running)

    again = start_again(running, offer, at=NOON + 12 * HOUR)

    assert again.ends_at == NOON + 42 * HOUR
    assert again.started_at == NOON
    assert again.address == ADDRESS
    assert again.time_used(NOON + 13 * HOUR) == 11 * HOUR
    assert again.time_paid() == timedelta(hours=40)


def test_free_nodes_are_never_lost(running, offer):
    assert free_nodes(offer) == 11
    interrupt(running)

    assert free_nodes(offer) == 12
