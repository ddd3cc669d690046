"""
The demand board, over requests for RTX 4090 whose every node is taken.

Each request is 40 GPU-hours at a limit of 0.33 or what it says.
"""

from decimal import Decimal

import pytest
from djmoney.money import Money

from catalog.models import Offer
from marketplace.demand import Group, board_of, board_rows, merged
from tests.workspaces.conftest import NOON, pay_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def ask_for(make_funded, make_person, offer):
    """
    Let a new renter fund a request.
    """

    def fund(number, **changes):
        changes.setdefault("wanted_limit", Decimal("0.33"))
        person = make_person(f"renter{number}@example.com")
        pay_in(person, "100")
        return make_funded(user=person, **changes)

    return fund


@pytest.fixture
def none_free(offer):
    Offer.objects.filter(gpu=offer.gpu_id).update(free_nodes=0)


def groups_of(board, name):
    cut = next(cut for cut in board.cuts if cut.name == name)
    return {group.key: group for group in cut.groups}


def test_staff_see_money_and_hours_and_what_finds_no_node(ask_for, offer):
    ask_for(1)
    ask_for(2, wanted_limit=Decimal("0.50"))
    Offer.objects.filter(gpu=offer.gpu_id).update(free_nodes=0)
    Offer.objects.filter(pk=offer.pk).update(free_nodes=1)

    board = board_of(at=NOON, is_public=False)

    assert (board.total.requests, board.total.gpu_hours) == (2, 80)
    # 40 h at 0.33 and 40 h at 0.50.
    assert board.total.funded == Money("33.20", "USD")
    # The higher limit takes the one free node.
    assert board.total.unmet == 40
    assert groups_of(board, "sequence_length")["0"].requests == 2
    assert groups_of(board, "limit")["1"].requests == 2
    assert groups_of(board, "method")["qlora"].gpu_hours == 80


def test_says_what_one_more_node_would_earn(ask_for, none_free):
    ask_for(1)
    ask_for(2, wanted_limit=Decimal("0.50"))

    chances = board_of(at=NOON, is_public=False).chances

    assert {row.region_slug for row in chances} == {
        "eu-central-frankfurt",
        "eu-west-paris",
    }
    best = chances[0]
    # At 0.33 both take it: 80 h of 0.33 are 26.40; at 0.50 one: 40 h are 20.00.
    assert (best.ask, best.gpu_hours) == (Money("0.33", "USD"), 80)
    # Of each hour 0.03 are our fee: 80 times 0.30.
    assert best.earns == Money("24.00", "USD")
    assert (best.waiting_gpus, best.free_gpus) == (2, 0)


def test_suppliers_see_nothing_of_fewer_than_three_renters(ask_for, none_free):
    ask_for(1)
    ask_for(2)

    board = board_of(at=NOON, is_public=True)

    assert board.is_hidden
    assert (board.total.requests, board.cuts, board.chances) == (0, [], [])
    assert board_rows(board) == []


def test_suppliers_see_groups_of_three_renters(ask_for, none_free):
    for number in (1, 2, 3):
        ask_for(number)

    board = board_of(at=NOON, is_public=True)

    assert board.total.requests == 3
    assert [row.gpu_hours for row in board.chances] == [120, 120]
    assert len(board_rows(board)) == 1 + sum(len(cut.groups) for cut in board.cuts)


def test_no_region_tells_of_one_renter_by_what_it_has_more(ask_for, none_free):
    for number in (1, 2, 3):
        ask_for(number)
    for number in (4, 5, 6, 7):
        ask_for(number, regions=["eu-west-paris"])
    ask_for(8, regions=["eu-central-frankfurt"])

    staff = groups_of(board_of(at=NOON, is_public=False), "region")
    public = groups_of(board_of(at=NOON, is_public=True), "region")

    assert {key: group.requests for key, group in staff.items()} == {
        "eu-central-frankfurt": 4,
        "eu-west-paris": 7,
    }
    # 7 of 8 in Paris would leave renter 8: those who take both regions join them.
    assert {key: group.requests for key, group in public.items()} == {
        "eu-west-paris": 4,
        "others": 4,
    }


def test_suppliers_see_no_limit_and_hours_of_one_renter(ask_for, none_free):
    for number in (1, 2, 3):
        ask_for(number)
    ask_for(4, wanted_limit=Decimal("2.00"))

    staff = board_of(at=NOON, is_public=False).chances
    public = board_of(at=NOON, is_public=True).chances

    # 40 h at 2.00 are more than 160 h at 0.33, but they are one renter's.
    assert {(row.ask.amount, row.gpu_hours) for row in staff} == {(Decimal(2), 40)}
    assert {(row.ask.amount, row.gpu_hours) for row in public} == {
        (Decimal("0.33"), 160)
    }


def group(key, *renters):
    return Group(key=key, label=key, requests=len(renters), renters=set(renters))


@pytest.mark.parametrize(
    ("groups", "shown"),
    [
        ([group("a", 1, 2, 3)], {"a": 3}),
        ([group("a", 1, 2, 3), group("b", 4), group("c", 5, 6)], {"a": 3, "others": 3}),
        # Others alone would be one renter, found by subtraction: a joins them.
        ([group("a", 1, 2, 3), group("b", 4)], {"others": 4}),
        (
            [group("a", 1, 2, 3, 4), group("b", 5, 6, 7), group("c", 8)],
            {"a": 4, "others": 4},
        ),
        # The same renter twice is one renter.
        ([group("a", 1, 1, 1), group("b", 2)], {}),
    ],
)
def test_merges_what_is_too_small_to_be_shown(groups, shown):
    assert {row.key: len(row.renters) for row in merged(groups)} == shown
