"""
Nodes as a file, of a supplier that lists three RTX 4090 nodes in Paris at 0.35.
"""

import pytest
from djmoney.money import Money

from catalog import services
from catalog.models import Listing, NodeFile, Offer
from catalog.node_files import COLUMNS, plan_nodes, read_nodes, written_nodes
from catalog.services.prices import add_version
from catalog.uploads import FileRefused
from tests.catalog.test_listings import (  # noqa: F401
    is_live,
    list_nodes,
    supplier,
    usd,
    wanted,
)
from tests.workspaces.conftest import HOUR, NOON, catalog  # noqa: F401

HEAD = ",".join(COLUMNS)
SAME = "rtx-4090,eu-west-paris,1,3,16,64,1000,2.5,12.8,0.35,USD,0.3,"
CHANGED = "rtx-4090,eu-west-paris,1,4,16,64,1000,2.5,12.8,0.33,USD,0.3,2027-01-31"
ADDED = "l40s,eu-central-frankfurt,1,2,32,128,2000,10,12.8,0.8,USD,,"
LATER = NOON + HOUR


@pytest.fixture
def offer(list_nodes):  # noqa: F811
    return list_nodes()


def file_of(*lines):
    return "\n".join([HEAD, *lines]) + "\n"


def plan_of(supplier, *lines):  # noqa: F811
    return plan_nodes(read_nodes(file_of(*lines)), supplier_id=supplier.pk, at=LATER)


def apply(supplier, staff, *lines, digest=None):  # noqa: F811
    file = services.keep_node_file(
        supplier_id=supplier.pk,
        name="nodes.csv",
        content=file_of(*lines),
        actor=staff,
        at=LATER,
    )
    digest = plan_of(supplier, *lines).digest if digest is None else digest
    return services.apply_node_file(
        file_id=file.pk, actor=staff, at=LATER, digest=digest
    )


def test_says_what_each_line_would_do(offer, supplier):  # noqa: F811
    plan = plan_of(supplier, CHANGED, ADDED)

    assert [str(row.outcome) for row in plan.rows] == ["changed", "added"]
    assert plan.rows[0].changes == [
        ("nodes", "3", "4"),
        ("ask", "0.35", "0.33"),
        ("until", "", "2027-01-31"),
    ]


def test_r41_what_is_written_can_be_read_again_and_changes_nothing(
    offer,
    supplier,  # noqa: F811
):
    text = "".join(written_nodes(supplier_id=supplier.pk, at=LATER))
    assert text.splitlines() == [HEAD, SAME]

    plan = plan_nodes(read_nodes(text), supplier_id=supplier.pk, at=LATER)

    assert [str(row.outcome) for row in plan.rows] == ["unchanged"]
    assert not plan.can_be_saved


def test_applies_all_lines(offer, supplier, staff):  # noqa: F811
    apply(supplier, staff, CHANGED, ADDED)

    assert Offer.objects.get(pk=offer.pk).nodes == 4
    assert offer.hourly_price(LATER) == usd("0.33")
    assert offer.hourly_price(NOON) == usd("0.35")
    added = Listing.objects.exclude(pk=offer.pk).get()
    assert (added.floor, added.network_gbps) == (None, 10)
    assert is_live(added.offer, LATER)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        (SAME.replace("rtx-4090", "rtx-9999"), "There is no gpu “rtx-9999”."),
        (SAME.replace("paris,1", "paris,17"), "gpus_per_node is a whole number"),
        (SAME.replace("0.35", "0,35"), "as many cells"),
        (SAME.replace("0.35", "$0.35"), "ask is a price like 0.33"),
        (SAME.replace("0.35", "9.99"), "median"),
        (SAME.replace("0.35", "0.29"), "below your floor of $0.30"),
        (SAME.replace("USD", "JPY"), "There is no currency “JPY”"),
        (SAME.replace("12.8", "=cmd"), "cuda_version"),
        (SAME + "tomorrow", "until is a day"),
        (SAME + "2026-01-31", "over already"),
    ],
)
def test_refuses_a_line_with_its_reason(offer, supplier, staff, line, reason):  # noqa: F811
    plan = plan_of(supplier, line, ADDED)
    assert reason in plan.rows[0].refusal

    with pytest.raises(services.NodesRefused):
        apply(supplier, staff, line, ADDED)

    assert Listing.objects.count() == 1


def test_an_ask_that_stands_needs_no_staff_again(offer, supplier, staff):  # noqa: F811
    at = NOON + HOUR / 2
    add_version(offer, usd("0.9"), valid_from=at, actor=staff, at=at)
    line = CHANGED.replace("0.33", "0.9")

    apply(supplier, staff, line)

    assert Offer.objects.get(pk=offer.pk).nodes == 4


def test_lines_are_held_against_what_was_asked_before_the_file(
    offer,
    supplier,  # noqa: F811
    staff,
):
    # 0.14 and 0.5 are both near 0.34, the median; of what the file asks it is 0.14.
    asks = {1: "0.14", 2: "0.14", 3: "0.14", 4: "0.14", 5: "0.14", 8: "0.5"}
    lines = [
        SAME.replace("paris,1", f"paris,{size}").replace("0.35,USD,0.3", f"{ask},USD,")
        for size, ask in asks.items()
    ]

    apply(supplier, staff, *lines)

    assert Listing.objects.count() == len(asks)


def test_refuses_nodes_that_staff_listed_for_the_supplier(
    offer,
    supplier,  # noqa: F811
    staff,
):
    Listing.objects.filter(pk=offer.pk).delete()

    plan = plan_of(supplier, CHANGED)

    assert "You list nodes" in plan.rows[0].refusal
    with pytest.raises(services.NodesRefused):
        apply(supplier, staff, CHANGED)


def test_the_last_day_of_the_calendar_is_no_end_too_far(offer, supplier, staff):  # noqa: F811
    apply(supplier, staff, SAME + "9999-12-31")

    assert is_live(offer, LATER)


def test_an_end_within_a_day_stays_as_it_is(offer, supplier):  # noqa: F811
    Offer.objects.update(available_until=NOON + 30 * HOUR)
    text = "".join(written_nodes(supplier_id=supplier.pk, at=LATER))

    plan = plan_nodes(read_nodes(text), supplier_id=supplier.pk, at=LATER)

    assert [str(row.outcome) for row in plan.rows] == ["unchanged"]


def test_refuses_the_second_line_about_the_same_nodes(offer, supplier):  # noqa: F811
    plan = plan_of(supplier, CHANGED, SAME)

    assert "Line 2" in plan.rows[1].refusal


def test_saves_nothing_that_was_not_looked_at(offer, supplier, staff):  # noqa: F811
    seen = plan_of(supplier, CHANGED).digest
    services.change_nodes(
        offer_id=offer.pk,
        wanted=read_nodes(file_of(SAME.replace("0.35", "0.34")))[0].wanted,
        actor=staff,
        at=NOON + HOUR / 2,
    )

    with pytest.raises(services.NodesRefused, match="have changed"):
        apply(supplier, staff, CHANGED, digest=seen)

    assert offer.hourly_price(LATER) == Money("0.34", "USD")


def test_a_file_is_applied_once(offer, supplier, staff):  # noqa: F811
    apply(supplier, staff, CHANGED)
    file = NodeFile.objects.get()

    with pytest.raises(services.FileApplied):
        services.apply_node_file(
            file_id=file.pk, actor=staff, at=LATER + HOUR, digest=""
        )


def test_a_file_without_our_columns_is_none(db):
    with pytest.raises(FileRefused, match="missing"):
        read_nodes("gpu,price\nrtx-4090,0.33\n")
