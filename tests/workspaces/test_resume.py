"""
A stopped workspace goes on: another node, another price, the same data and hold.

It was stopped after ten hours; its data are kept for seven days, 4.14 are held.
"""

from dataclasses import replace

import pytest

from billing.services import InsufficientFunds, bill_due, charges_of
from billing.services.wallets import freeze_wallet
from catalog.models import GpuModel, Offer
from tests.workspaces.conftest import (
    ADDRESS,
    DAY,
    HOUR,
    MINUTE,
    NOON,
    free_nodes,
    hold_on,
    started_at,
    usd,
    wallet_of,
)
from workspaces import services
from workspaces.models import Code, State, Workspace
from workspaces.services import IllegalMove, WantedResume

LATER = NOON + 20 * HOUR


@pytest.fixture
def wanted_resume(offer):
    return WantedResume(
        gpu=offer.gpu,
        gpus=1,
        regions=["eu-central-frankfurt"],
        hours=5,
        kept_days=2,
        wanted_limit=None,
    )


@pytest.fixture
def resume_quote(stopped, wanted_resume):
    return services.quote_resume(
        user=stopped.user, workspace_id=stopped.pk, wanted=wanted_resume, at=LATER
    )


@pytest.fixture
def resuming(resume_quote):
    return services.fund_workspace(
        user=resume_quote.user, quote_id=resume_quote.pk, at=LATER + MINUTE
    )


def match(workspace, offer, *, at=LATER + HOUR, price="0.33"):
    Offer.objects.filter(pk=offer.pk).update(free_nodes=offer.free_nodes - 1)
    return services.match_workspace(
        workspace_id=workspace.pk, offer_id=offer.pk, hourly_price=usd(price), at=at
    )


def test_the_quote_is_of_the_new_hours(resume_quote, stopped):
    # 5 h at 0.33 are 1.65; 200 GB for 5 h 0.12, and for 53 h 1.31.
    assert resume_quote.resumes == stopped
    assert resume_quote.compute_cost == usd("1.65")
    assert resume_quote.storage_cost == usd("0.12")
    assert resume_quote.kept_cost == usd("1.19")
    assert resume_quote.hold_amount == usd("2.96")
    assert resume_quote.base_model == stopped.base_model


def test_it_waits_in_the_book_with_its_data(resuming, stopped):
    assert resuming.pk == stopped.pk
    assert resuming.state == State.STOPPED
    assert resuming.is_resuming
    assert list(Workspace.objects.queued()) == [resuming]
    # 3.55 were billed for the ten hours; 4.14 kept and 2.96 are held.
    hold = hold_on(resuming)
    assert hold.amount - hold.released == usd("10.65")
    event = resuming.events.latest("pk")
    assert (event.code, event.held) == (Code.RESUME_ASKED, usd("2.96").amount)


def test_funding_twice_goes_on_once(resuming, resume_quote):
    again = services.fund_workspace(
        user=resume_quote.user, quote_id=resume_quote.pk, at=LATER + HOUR
    )

    assert again == resuming
    assert hold_on(again).amount == usd("21.29")


def test_storage_is_paid_while_it_waits_and_no_longer(resuming, offer):
    matched = match(resuming, offer)

    assert matched.state == State.MATCHED
    assert matched.storage_meter_id is None
    # From the stop, at ten, to the match, at 21 h: 11 h of storage and 10 h of both.
    bill_due(at=LATER + 3 * HOUR)
    seconds = {}
    for charge in charges_of(hold_id=resuming.hold_id):
        seconds[charge.meter_name] = seconds.get(charge.meter_name, 0) + charge.seconds
    assert seconds == {"compute": 10 * 3600, "storage": 21 * 3600}


def test_m52_each_run_has_its_own_price(stopped, wanted_resume):
    # CASES M52, on other hardware: 10 h at 0.33, then 5 h of an L40S at 0.79.
    gpu = GpuModel.objects.get(slug="l40s")
    other = Offer.objects.filter(gpu=gpu, gpus_per_node=1).first()
    quote = services.quote_resume(
        user=stopped.user,
        workspace_id=stopped.pk,
        wanted=replace(wanted_resume, gpu=gpu, wanted_limit=usd("0.79").amount),
        at=LATER,
    )
    services.fund_workspace(user=quote.user, quote_id=quote.pk, at=LATER)
    running = started_at(match(stopped, other, price="0.79"), at=LATER + 2 * HOUR)
    assert running.ends_at == LATER + 7 * HOUR

    services.end_due(at=LATER + 7 * HOUR)

    compute = [
        charge.amount
        for charge in charges_of(hold_id=running.hold_id)
        if charge.meter_name == "compute"
    ]
    assert sum(compute, usd(0)) == usd("7.25")
    ended = Workspace.objects.get()
    assert ended.state == State.STOPPED
    assert ended.kept_until == LATER + 7 * HOUR + 2 * DAY
    assert ended.seconds_run == 15 * 3600


def test_the_second_supplier_is_paid_for_its_hours(stopped, wanted_resume):
    gpu = GpuModel.objects.get(slug="l40s")
    other = Offer.objects.filter(gpu=gpu, gpus_per_node=1).exclude(
        supplier__slug="everxcloud"
    )[0]
    quote = services.quote_resume(
        user=stopped.user,
        workspace_id=stopped.pk,
        wanted=replace(wanted_resume, gpu=gpu, wanted_limit=usd("2").amount),
        at=LATER,
    )
    services.fund_workspace(user=quote.user, quote_id=quote.pk, at=LATER)

    running = started_at(match(stopped, other, price="0.79"), at=LATER + 2 * HOUR)

    assert running.data_offer == other
    assert running.address == ADDRESS


def test_r21_the_node_is_not_kept(resuming, offer):
    # CASES R21: whoever goes on waits for a free node like everybody else.
    Offer.objects.filter(pk=offer.pk).update(free_nodes=0)

    assert resuming.state == State.STOPPED
    assert resuming.rule.is_storage_charged
    assert not resuming.rule.is_compute_charged


def test_it_can_be_given_up_while_it_waits(resuming):
    given_up = services.give_up_resume(
        workspace_id=resuming.pk, actor=resuming.user, at=LATER + HOUR
    )

    assert not given_up.is_resuming
    assert given_up.kept_until == NOON + 10 * HOUR + 7 * DAY
    assert given_up.events.latest("pk").returned == usd("2.96").amount
    assert not Workspace.objects.queued().exists()


def test_it_can_be_given_up_while_it_starts(resuming, offer):
    matched = match(resuming, offer)
    services.begin_provisioning(workspace_id=matched.pk, at=LATER + 90 * MINUTE)

    given_up = services.give_up_resume(
        workspace_id=resuming.pk, actor=resuming.user, at=LATER + 2 * HOUR
    )

    assert given_up.state == State.STOPPED
    # It had 6 d 13 h left at the match; the hour of waiting was free.
    assert given_up.kept_until == LATER + 2 * HOUR + 6 * DAY + 13 * HOUR
    assert free_nodes(offer) == 12
    bill_due(at=given_up.kept_until)
    services.end_due(at=given_up.kept_until)
    assert Workspace.objects.get().state == State.DELETED
    assert wallet_of(resuming.user).held == usd(0)


@pytest.mark.parametrize("is_retried", [False, True])
def test_a_failed_start_leaves_the_data(resuming, offer, is_retried):
    Workspace.objects.update(is_start_retried=is_retried)
    match(resuming, offer)

    back = services.fail_workspace(
        workspace_id=resuming.pk, reason="It did not boot.", at=LATER + 2 * HOUR
    )

    assert back.state == State.STOPPED
    assert back.is_resuming == is_retried
    assert back.avoided_offers == ([offer.pk] if is_retried else [])
    assert back.storage_meter_id is not None
    assert back.events.latest("pk").code == Code.START_FAILED


def test_data_that_are_due_go_even_while_it_waits(resuming):
    end = NOON + 10 * HOUR + 7 * DAY
    bill_due(at=end)

    assert services.end_due(at=end) == 1

    assert Workspace.objects.get().state == State.DELETED
    assert wallet_of(resuming.user).held == usd(0)
    assert hold_on(resuming).captured == usd("7.69")


def test_storage_that_is_kept_longer_does_not_spend_what_is_held_for_it(
    resuming, offer
):
    # 24 h of 200 GB are 0.59; 2.96 were held for the run.
    end = NOON + 10 * HOUR + 7 * DAY
    before = hold_on(resuming).amount
    services.extend_workspace(
        workspace_id=resuming.pk,
        by=DAY,
        seen_end=end,
        actor=resuming.user,
        at=LATER + HOUR,
    )
    bill_due(at=end + HOUR)

    matched = match(resuming, offer, at=end + HOUR)

    assert hold_on(resuming).amount - before == usd("0.59")
    assert matched.state == State.MATCHED
    assert hold_on(resuming).remaining == usd("2.96")


@pytest.mark.parametrize("is_starting", [False, True])
def test_m23_a_dispute_takes_it_out_of_the_book(resuming, offer, is_starting):
    if is_starting:
        match(resuming, offer)
    freeze_wallet(user_id=resuming.user_id, currency="USD", at=LATER + HOUR)

    assert services.stop_disputed(at=LATER + 2 * HOUR) == 1

    stopped = Workspace.objects.get()
    assert (stopped.state, stopped.is_resuming) == (State.STOPPED, False)
    assert "disputed" in stopped.events.latest("pk").reason
    assert not Workspace.objects.queued().exists()
    assert free_nodes(offer) == 12
    assert services.stop_disputed(at=LATER + 3 * HOUR) == 0


def test_r6_a_price_over_the_quote_is_refused(resuming, offer):
    with pytest.raises(services.PriceOverLimit):
        match(resuming, offer, price="0.34")

    assert Workspace.objects.get().state == State.STOPPED


def test_a_wallet_that_is_short_changes_nothing(stopped, wanted_resume):
    quote = services.quote_resume(
        user=stopped.user,
        workspace_id=stopped.pk,
        wanted=replace(wanted_resume, hours=400),
        at=LATER,
    )

    with pytest.raises(InsufficientFunds):
        services.fund_workspace(user=quote.user, quote_id=quote.pk, at=LATER)

    assert not Workspace.objects.get().is_resuming


def test_only_what_is_stopped_goes_on(running, wanted_resume):
    with pytest.raises(IllegalMove):
        services.quote_resume(
            user=running.user, workspace_id=running.pk, wanted=wanted_resume, at=LATER
        )


def test_a_stopped_one_that_did_not_ask_is_not_matched(stopped, offer):
    with pytest.raises(IllegalMove):
        match(stopped, offer)

    assert Workspace.objects.get().storage_meter_id is not None


def test_only_its_owner_may_ask(stopped, stranger, wanted_resume):
    with pytest.raises(Workspace.DoesNotExist):
        services.quote_resume(
            user=stranger, workspace_id=stopped.pk, wanted=wanted_resume, at=LATER
        )
