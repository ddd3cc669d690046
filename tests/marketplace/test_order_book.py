"""
The order book of one GPU: EverXCloud asks 0.33 for twelve single RTX 4090.
"""

from decimal import Decimal

import pytest
from django.utils.html import strip_tags
from hypothesis import given
from hypothesis import strategies as st

from billing.services import load_shipped_rates
from marketplace import services
from marketplace.curves import Step, draw
from marketplace.order_book import LimitGroup, merged, order_book_of
from tests.workspaces.conftest import NOON, pay_in, usd

PATH = "/market/rtx-4090/"


def words(response):
    return " ".join(strip_tags(response.content.decode()).split())


def group(limit, *renters):
    return LimitGroup(Decimal(limit), Decimal(limit), len(renters), set(renters))


# --- demand without names


def test_merges_neighbours_until_three_renters_share_a_line():
    rows = [group("0.40", 1, 1), group("0.38", 2), group("0.35", 3), group("0.30", 4)]

    assert merged(rows) == [
        LimitGroup(Decimal("0.30"), Decimal("0.40"), 5, {1, 2, 3, 4})
    ]


def test_keeps_groups_that_are_large_enough():
    rows = [group("0.40", 1, 2, 3), group("0.35", 1, 2), group("0.30", 3)]

    assert [(g.high, g.low, g.requests) for g in merged(rows)] == [
        (Decimal("0.40"), Decimal("0.40"), 3),
        (Decimal("0.35"), Decimal("0.30"), 3),
    ]


def test_shows_no_limit_of_two_renters():
    assert merged([group("0.40", 1, 2), group("0.30", 1)]) == []


@given(
    st.lists(
        st.builds(
            group, st.integers(1, 9).map(str), st.integers(1, 6), st.integers(1, 6)
        ),
        max_size=12,
        unique_by=lambda row: row.low,
    )
)
def test_no_group_is_small_and_no_request_is_lost(rows):
    groups = merged(rows)

    assert all(len(one.renters) >= 3 for one in groups)
    if groups:
        assert sum(one.requests for one in groups) == 2 * len(rows)


# --- the chart


def test_draws_stairs_that_rise_and_fall():
    """
    Nodes add up to four, so one node is 50 px high.
    """
    chart = draw(
        asks=[Step(Decimal("0.30"), 3), Step(Decimal("0.40"), 1)],
        bids=[Step(Decimal("0.45"), 2)],
    )

    # Prices span 0.30 to 0.45, a margin of 0.015 each: 480 px for 0.18.
    assert chart.asks == "M40.0 200.0V50.0H306.7V0.0H480V200.0z"
    assert chart.bids == "M440.0 200.0V100.0H0V200.0z"
    assert {tick.value for tick in chart.nodes} == {4, 2}


def test_draws_far_limits_at_the_edge():
    chart = draw(asks=[Step(Decimal("0.30"), 1)], bids=[Step(Decimal(90), 1)])

    assert max(tick.value for tick in chart.prices) < 1


def test_draws_nothing_without_asks():
    assert draw(asks=[], bids=[Step(Decimal(1), 1)]) is None


# --- the page


@pytest.mark.django_db
def test_shows_depth_demand_and_what_a_limit_gets_before_the_opening(
    make_funded, make_person, renter_client, offer, django_assert_max_num_queries
):
    for number, limit in enumerate(("0.40", "0.38", "0.36")):
        person = make_person(f"bidder{number}@example.com")
        pay_in(person, "100")
        make_funded(user=person, wanted_limit=Decimal(limit))

    with django_assert_max_num_queries(10):
        answer = renter_client.get(PATH, {"limit": "0,37", "hours": "8"})

    page = words(answer)
    assert "3 funded requests wait for this GPU" in page
    assert "$0.36 to $0.40 3" in page
    assert 'class="asks"' in answer.content.decode()
    assert "nodes are asked at or below $0.37." in page
    assert "2 requests come before you" in page
    assert "Now nothing is matched. When the market opens, as the book stands" in page
    assert "EU Central · Frankfurt at $0.33 per GPU-hour" in page
    assert "bidder" not in page


@pytest.mark.django_db
def test_says_what_a_limit_gets_now(make_funded, client, offer, open_market):
    open_market()

    assert "Now you would get a node in" in words(
        client.get(PATH, {"limit": "0.33", "hours": "8"})
    )
    low = words(client.get(PATH, {"limit": "0.01", "hours": "8"}))
    assert "0 nodes are asked at or below $0.01." in low
    assert "Now you would wait" in low
    assert "asks $0.33" in low


@pytest.mark.django_db
def test_plays_through_who_comes_before(make_funded, client, offer):
    """
    One node is left in all, and it goes to the limit of 0.40.
    """
    make_funded(wanted_limit=Decimal("0.40"))
    type(offer).objects.exclude(pk=offer.pk).update(free_nodes=0)
    type(offer).objects.filter(pk=offer.pk).update(free_nodes=1)

    late = words(client.get(PATH, {"limit": "0.40", "hours": "8"}))
    high = words(client.get(PATH, {"limit": "0.41", "hours": "8"}))

    assert "1 request comes before you" in late
    assert "you would wait: no node is left" in late
    assert "Nobody comes before you." in high
    assert "you would get a node in EU Central · Frankfurt at $0.33" in high

    type(offer).objects.update(free_nodes=0)
    gone = words(client.get(PATH, {"limit": "0.40", "hours": "8"}))
    assert "0 nodes are asked at or below $0.40." in gone
    assert "1 request comes before you" in gone


@pytest.mark.django_db
@pytest.mark.parametrize("currency", ["EUR", "GBP"])
def test_an_equal_limit_in_another_currency_comes_before(
    make_funded, renter_client, rich_renter, currency
):
    """
    The rates do not come out even: a euro is 1.0389 dollars and 0.82918 pounds.
    """
    load_shipped_rates()
    pay_in(rich_renter, "100", currency=currency)
    rich_renter.currency = currency
    rich_renter.save()
    make_funded(wanted_limit=Decimal("0.40"), currency=currency)

    same = words(renter_client.get(PATH, {"limit": "0.40", "hours": "8"}))
    more = words(renter_client.get(PATH, {"limit": "0.41", "hours": "8"}))

    assert "1 request comes before you" in same
    assert "Nobody comes before you." in more


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query",
    [
        "limit=x&hours=8",
        "limit=1&hours=0",
        "gpus=x&region=nowhere",
        "gpus=²",
        f"gpus={'9' * 5000}",
    ],
)
def test_bears_what_people_type(client, offer, query):
    answer = client.get(f"{PATH}?{query}")

    assert answer.status_code == 200
    assert "asked at or below" not in words(answer)


def test_keeps_to_a_region_and_a_size(make_funded, offer):
    make_funded(regions=["eu-west-paris"], wanted_limit=Decimal("0.40"))

    book = order_book_of(
        gpu_id=offer.gpu_id, at=NOON, gpus=1, region="eu-central-frankfurt"
    )

    assert {level.region.slug for level in book.levels} == {"eu-central-frankfurt"}
    assert book.waiting == 0
    assert services.preview_opening(at=NOON)[0].waiting == 1


def test_lists_the_cheapest_levels_and_counts_the_rest(offer, monkeypatch):
    monkeypatch.setattr("marketplace.order_book.LEVELS_SHOWN", 0)

    book = order_book_of(
        gpu_id=offer.gpu_id, at=NOON, gpus=1, region="eu-central-frankfurt"
    )

    assert book.cheapest_levels == []
    assert book.nodes == book.nodes_beyond >= 12


@pytest.mark.django_db
def test_names_nobody_their_own_ask(make_quote, owner, owner_client, client, listed):
    """
    Nordlicht asks 0.32 in Paris; its owner would rent from EverXCloud at 0.33.
    """
    regions = ["eu-central-frankfurt", "eu-west-paris"]
    pay_in(owner, "100")

    assert make_quote().offer == listed
    quote = make_quote(user=owner, regions=regions)
    assert quote.offer.supplier.slug == "everxcloud"
    assert quote.limit_price == usd("0.33")

    others = words(client.get(PATH, {"limit": "0.33", "hours": "8"}))
    own = words(owner_client.get(PATH, {"limit": "0.33", "hours": "8"}))
    assert "Paris at $0.32 per GPU-hour" in others
    assert "15 nodes are asked at or below $0.33." in others
    assert "Frankfurt at $0.33 per GPU-hour" in own
    assert "12 nodes are asked at or below $0.33." in own
