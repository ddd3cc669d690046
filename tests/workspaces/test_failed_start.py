import pytest

from catalog.models import Offer
from tests.workspaces.conftest import (
    HOUR,
    MINUTE,
    NOON,
    free_nodes,
    hold_on,
    matched_at,
    usd,
    wallet_of,
)
from workspaces import services
from workspaces.models import Code, State, Workspace
from workspaces.services import IllegalMove


@pytest.fixture
def retried(make_funded, offer):
    return matched_at(make_funded(is_start_retried=True), offer)


def fail(workspace, *, at=NOON + HOUR):
    return services.fail_workspace(
        workspace_id=workspace.pk, reason="The node did not boot.", at=at
    )


def test_r4_r5_an_hour_of_set_up_that_fails_costs_nothing(provisioning):
    failed = fail(provisioning)

    assert failed.state == State.FAILED
    assert wallet_of(failed.user).available == usd(100)


def test_the_next_offer_is_tried_if_the_renter_chose_that(retried, offer):
    waiting = fail(retried)

    assert waiting.state == State.QUEUED
    assert waiting.avoided_offers == [offer.pk]
    assert waiting.funded_at == retried.funded_at
    assert (waiting.offer, waiting.hourly_price) == (None, None)
    assert hold_on(waiting).remaining == usd("18.33")
    assert free_nodes(offer) == 12
    event = waiting.events.latest("pk")
    assert (event.code, event.reason) == (Code.START_FAILED, "The node did not boot.")


def test_a_retry_waits_with_its_whole_limit(make_funded, offer):
    funded = make_funded(is_start_retried=True, wanted_limit=usd("0.40").amount)
    matched = matched_at(funded, offer)

    waiting = fail(matched)

    assert hold_on(waiting).remaining == usd("21.13")
    assert waiting.events.latest("pk").held == usd("2.80").amount


def test_a_retry_that_is_cancelled_gives_everything_back(retried):
    fail(retried)

    services.cancel_workspace(
        workspace_id=retried.pk, actor=retried.user, at=NOON + 2 * HOUR
    )

    assert Workspace.objects.get().state == State.CANCELLED
    assert wallet_of(retried.user).available == usd(100)


def test_a_retry_ends_at_its_start_deadline(make_funded, offer):
    funded = make_funded(is_start_retried=True, start_deadline=NOON + 2 * HOUR)
    fail(matched_at(funded, offer))

    assert services.end_due(at=NOON + 2 * HOUR) == 1
    assert Workspace.objects.get().state == State.EXPIRED


def test_a_start_that_nobody_confirms_goes_back_into_the_queue(provisioning, offer):
    waiting = services.put_back_late_start(workspace_id=provisioning.pk, at=NOON + HOUR)

    assert waiting.state == State.QUEUED
    assert waiting.events.latest("pk").code == Code.START_LATE
    assert waiting.avoided_offers == [offer.pk]
    assert free_nodes(offer) == 12


@pytest.mark.parametrize("state", ["funded", "running", "stopped"])
def test_only_a_start_can_be_late(request, state):
    workspace = request.getfixturevalue(state)

    with pytest.raises(IllegalMove):
        services.put_back_late_start(workspace_id=workspace.pk, at=NOON + HOUR)

    assert Workspace.objects.get().state == workspace.state


def test_r6_the_price_at_the_start_is_never_over_the_quote(retried, offer):
    fail(retried)

    with pytest.raises(services.PriceOverLimit):
        services.match_workspace(
            workspace_id=retried.pk,
            offer_id=offer.pk,
            hourly_price=usd("0.34"),
            at=NOON + HOUR + MINUTE,
        )

    waiting = Workspace.objects.get()
    assert waiting.state == State.QUEUED
    assert Offer.objects.get(pk=offer.pk).free_nodes == 12
