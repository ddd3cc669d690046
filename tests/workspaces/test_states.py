import pytest
from django.db import transaction

from tests.workspaces.conftest import ADDRESS, NOON, usd
from workspaces import services
from workspaces.models import State, Workspace, WorkspaceEvent
from workspaces.services.moves import lock_workspace, record_move
from workspaces.states import LEGAL_MOVES, RULES

# DESIGN.md, section 4: states and charges.
CHARGED = {State.RUNNING: (True, True), State.STOPPED: (False, True)}


@pytest.mark.parametrize("state", State)
def test_r3_charges_what_is_published(state):
    rule = RULES[state]

    charged = (rule.is_compute_charged, rule.is_storage_charged)

    assert charged == CHARGED.get(state, (False, False))


def test_every_state_has_a_rule():
    assert set(RULES) == set(State)


def test_every_move_leads_to_a_known_state_and_never_back():
    for state, targets in LEGAL_MOVES.items():
        assert state not in targets


def moves(workspace):
    at, pk, actor = NOON, workspace.pk, workspace.user
    return {
        State.QUEUED: lambda: record_move(lock_workspace(pk), State.QUEUED, at=at),
        State.MATCHED: lambda: services.match_workspace(
            workspace_id=pk, offer_id=0, hourly_price=usd("0.33"), at=at
        ),
        State.PROVISIONING: lambda: services.begin_provisioning(workspace_id=pk, at=at),
        State.RUNNING: lambda: services.start_workspace(
            workspace_id=pk, address=ADDRESS, at=at
        ),
        State.STOPPED: lambda: services.stop_workspace(
            workspace_id=pk, actor=actor, at=at, keep_data=True
        ),
        State.ENDED: lambda: services.stop_workspace(
            workspace_id=pk, actor=actor, at=at, keep_data=False
        ),
        State.FAILED: lambda: services.fail_workspace(
            workspace_id=pk, reason="broken", at=at
        ),
        State.CANCELLED: lambda: services.cancel_workspace(
            workspace_id=pk, actor=actor, at=at
        ),
        State.EXPIRED: lambda: services.expire_workspace(workspace_id=pk, at=at),
        State.DELETED: lambda: services.delete_data(
            workspace_id=pk, actor=actor, at=at
        ),
    }


@pytest.fixture
def in_state(request):
    """
    Return a workspace that went the real way into the state.
    """
    ways = {
        State.FUNDED: "funded",
        State.QUEUED: "queued",
        State.MATCHED: "matched",
        State.PROVISIONING: "provisioning",
        State.RUNNING: "running",
        State.STOPPED: "stopped",
        State.ENDED: "ended",
        State.FAILED: "failed",
        State.CANCELLED: "cancelled",
        State.EXPIRED: "expired",
        State.DELETED: "deleted",
    }
    return lambda state: request.getfixturevalue(ways[state])


@pytest.fixture
def queued(funded):
    services.queue_funded(at=NOON)
    return funded


@pytest.fixture
def ended(running):
    moves(running)[State.ENDED]()
    return running


@pytest.fixture
def failed(provisioning):
    moves(provisioning)[State.FAILED]()
    return provisioning


@pytest.fixture
def cancelled(funded):
    moves(funded)[State.CANCELLED]()
    return funded


@pytest.fixture
def expired(funded):
    moves(funded)[State.EXPIRED]()
    return funded


@pytest.fixture
def deleted(stopped):
    moves(stopped)[State.DELETED]()
    return stopped


@pytest.mark.parametrize("state", [state for state in State if state != State.DRAFT])
def test_refuses_every_move_that_is_not_in_the_table(db, in_state, state):
    workspace = in_state(state)
    before = Workspace.objects.values().get()
    events = WorkspaceEvent.objects.count()

    for to, move in moves(workspace).items():
        if to not in LEGAL_MOVES[state]:
            with pytest.raises(services.IllegalMove) as caught, transaction.atomic():
                move()

            assert (caught.value.state, caught.value.to) == (state, to)
            assert str(state.label) in str(caught.value)
    assert Workspace.objects.values().get() == before
    assert WorkspaceEvent.objects.count() == events


def test_a_move_that_lost_a_race_changes_nothing(queued):
    stale = lock_workspace(queued.pk)
    Workspace.objects.filter(pk=queued.pk).update(state=State.CANCELLED)

    with pytest.raises(services.IllegalMove) as caught:
        record_move(stale, State.EXPIRED, at=NOON)

    assert caught.value.state == State.CANCELLED
    assert Workspace.objects.get().state == State.CANCELLED
