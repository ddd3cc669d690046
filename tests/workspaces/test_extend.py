from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest
from django.db import connection

from billing.services import (
    InsufficientFunds,
    bill_due,
    extend_automatically,
    hold_of,
)
from tests.workspaces.conftest import (
    DAY,
    HOUR,
    MINUTE,
    NOON,
    hold_on,
    matched_at,
    pay_in,
    started_at,
    usd,
    wallet_of,
)
from workspaces import services
from workspaces.models import Code, State, Workspace
from workspaces.services import CannotExtend, StillPaid

END = NOON + 40 * HOUR


def extend(workspace, *, by=5 * HOUR, seen_end=END, at=NOON + HOUR):
    return services.extend_workspace(
        workspace_id=workspace.pk,
        by=by,
        seen_end=seen_end,
        actor=workspace.user,
        at=at,
    )


def test_it_runs_longer_and_holds_what_that_costs(running):
    # 5 h at 0.33 are 1.65. Storage for 213 h is 5.25, for 208 h it was 5.13.
    extended = extend(running)

    assert extended.ends_at == END + 5 * HOUR
    assert extended.time_paid() == 45 * HOUR
    assert hold_on(running).amount == usd("20.10")
    event = extended.events.latest("pk")
    assert (event.code, event.held, event.actor) == (
        Code.EXTENDED,
        usd("1.77").amount,
        running.user,
    )
    assert services.end_due(at=END) == 0
    assert services.end_due(at=END + 5 * HOUR) == 1
    stopped = Workspace.objects.get()
    assert stopped.kept_until == END + 5 * HOUR + 7 * DAY


def test_asking_twice_extends_once(running):
    extend(running)
    extend(running)

    assert Workspace.objects.get().compute_meter.ends_at == END + 5 * HOUR
    assert hold_on(running).amount == usd("20.10")


def test_an_end_that_moved_is_not_extended_again(running):
    extend(running)

    with pytest.raises(CannotExtend, match="extended meanwhile"):
        extend(running, by=3 * HOUR)

    assert Workspace.objects.get().compute_meter.ends_at == END + 5 * HOUR


def test_a_wallet_that_is_short_changes_nothing(running):
    with pytest.raises(InsufficientFunds):
        extend(running, by=400 * HOUR)

    assert Workspace.objects.get().compute_meter.ends_at == END
    assert hold_on(running).amount == usd("18.33")


def test_what_is_over_is_not_extended(running):
    with pytest.raises(CannotExtend, match="time is over"):
        extend(running, at=END)


def test_nothing_runs_for_more_than_90_days(running):
    with pytest.raises(CannotExtend, match="2,160 hours at most"):
        extend(running, by=2121 * HOUR)


@pytest.mark.parametrize("state", ["funded", "matched"])
def test_only_what_has_started_is_extended(request, state):
    with pytest.raises(CannotExtend, match="nothing to extend"):
        extend(request.getfixturevalue(state))


def test_kept_data_are_kept_longer(stopped):
    # 24 h of 200 GB are 0.59.
    until = stopped.kept_until

    extended = extend(stopped, by=DAY, seen_end=until, at=NOON + DAY)

    assert extended.kept_until == until + DAY
    assert extended.events.latest("pk").held == usd("0.59").amount
    bill_due(at=until)
    assert services.end_due(at=until) == 0
    assert services.end_due(at=until + DAY) == 1


def test_a_plan_keeps_data_no_longer_than_it_says(stopped):
    with pytest.raises(CannotExtend, match="30 days at most"):
        extend(stopped, by=24 * DAY, seen_end=stopped.kept_until, at=NOON + DAY)

    assert Workspace.objects.get().kept_until == stopped.kept_until


# --- automatically


def switch(workspace, *, is_on=True, at=NOON):
    return services.switch_auto_extend(
        workspace_id=workspace.pk, is_on=is_on, actor=workspace.user, at=at
    )


def test_its_end_follows_the_automatic_extension(running):
    switch(running)

    extend_automatically(at=END - 30 * MINUTE)

    workspace = Workspace.objects.with_names().get()
    assert workspace.ends_at == END + HOUR
    assert workspace.charged_until == END + HOUR
    assert services.end_due(at=END) == 0
    assert Workspace.objects.get().state == State.RUNNING


def test_m51_a_payment_of_the_last_second_prevents_the_stop(started, rich_renter):
    # CASES M51: 281 h cost 92.73 and 6.93, so 0.34 are left; another one costs 0.35.
    running = started(hours=281, kept_days=0)
    switch(running)
    end = running.ends_at
    extend_automatically(at=end - MINUTE)
    assert Workspace.objects.with_names().get().ends_at == end

    pay_in(rich_renter, "0.10")
    extend_automatically(at=end)
    services.end_due(at=end)

    workspace = Workspace.objects.with_names().get()
    assert (workspace.state, workspace.ends_at) == (State.RUNNING, end + HOUR)


@pytest.fixture
def started(make_funded, offer):
    def start(**changes):
        return started_at(matched_at(make_funded(**changes), offer))

    return start


def test_a_stop_that_comes_after_an_extension_does_not_stop_it(running):
    switch(running)
    extend_automatically(at=END - 30 * MINUTE)

    with pytest.raises(StillPaid):
        services.end_workspace(workspace_id=running.pk, at=END)

    assert Workspace.objects.get().state == State.RUNNING


def test_switching_is_written_down_once(running):
    for is_on in (True, True, False):
        switch(running, is_on=is_on)

    codes = running.events.exclude(code="").values_list("code", flat=True)
    assert list(codes.order_by("pk")) == [Code.AUTO_ON, Code.AUTO_OFF]


def test_a_stop_switches_it_off(running):
    switch(running)

    services.stop_workspace(
        workspace_id=running.pk, actor=None, at=NOON + HOUR, keep_data=True
    )

    assert not hold_of(hold_id=running.hold_id).is_extended_automatically


def test_what_does_not_run_is_not_switched(stopped):
    with pytest.raises(CannotExtend):
        switch(stopped)


@pytest.mark.django_db(transaction=True)
def test_an_end_and_an_extension_at_once_never_lose_money(running):
    """
    Whoever is first wins: it ends, and nothing was taken for longer, or it runs on.
    """
    switch(running)
    barrier = Barrier(2)
    at = END - 1 * MINUTE

    def run(act):
        barrier.wait()
        try:
            return act()
        except StillPaid as refusal:
            return refusal
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as pool:
        extend = pool.submit(run, partial(extend_automatically, at=at))
        end = pool.submit(
            run, partial(services.end_workspace, workspace_id=running.pk, at=END)
        )
        for answer in (extend, end):
            answer.result()

    workspace = Workspace.objects.with_names().get()
    if workspace.state == State.RUNNING:
        assert workspace.ends_at == END + HOUR
    else:
        assert workspace.stopped_at == END
        assert wallet_of(running.user).available == usd("81.67")
