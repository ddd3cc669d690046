from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marketplace.book_log import read_asks, read_bids, write_asks, write_bids
from marketplace.matching import (
    Ask,
    Bid,
    Pairing,
    cheapest,
    decided_from,
    match_book,
)

NOON = datetime(2026, 12, 12, 12, tzinfo=UTC)
PARIS, FRANKFURT, ELSEWHERE = "paris", "frankfurt", "elsewhere"


def make_bid(key, limit, **changes):
    facts = {
        "key": key,
        "gpu_id": 1,
        "gpus": 1,
        "regions": frozenset({PARIS}),
        "hours": 8,
        "limit": Decimal(limit),
        "rank": Decimal(limit),
        "currency": "USD",
        "rates": {"USD": Decimal(1)},
        "funded_at": NOON - timedelta(days=1),
    }
    return Bid(**(facts | changes))


def make_ask(key, price, **changes):
    facts = {
        "key": key,
        "gpu_id": 1,
        "gpus_per_node": 1,
        "region": PARIS,
        "free_nodes": 1,
        "price": Decimal(price),
        "currency": "USD",
        "listed_at": NOON - timedelta(days=9),
    }
    return Ask(**(facts | changes))


def keys(bids, asks):
    pairings = match_book(bids=bids, asks=asks, at=NOON)
    return [(bid.key, ask.key) for bid, ask in pairings]


def test_serves_the_highest_limit_first():
    bids = [make_bid("a", "0.40"), make_bid("b", "0.50")]

    assert keys(bids, [make_ask(1, "0.33")]) == [("b", 1)]


def test_serves_the_earlier_funded_of_equal_limits_first():
    late = make_bid("a", "0.40", funded_at=NOON - timedelta(minutes=1))
    early = make_bid("b", "0.40", funded_at=NOON - timedelta(minutes=2))

    assert keys([late, early], [make_ask(1, "0.33")]) == [("b", 1)]


def test_takes_the_cheapest_ask_of_the_accepted_regions():
    bid = make_bid("a", "0.40", regions=frozenset({PARIS, FRANKFURT}))
    asks = [
        make_ask(1, "0.34"),
        make_ask(2, "0.33", region=FRANKFURT),
        make_ask(3, "0.10", region=ELSEWHERE),
    ]

    assert keys([bid], asks) == [("a", 2)]


def test_takes_the_older_of_equal_asks():
    young = make_ask(1, "0.33", listed_at=NOON - timedelta(days=1))
    old = make_ask(2, "0.33", listed_at=NOON - timedelta(days=2))

    assert keys([make_bid("a", "0.33")], [young, old]) == [("a", 2)]


def test_never_pays_above_the_limit():
    assert keys([make_bid("a", "0.329999")], [make_ask(1, "0.33")]) == []


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"gpu_id": 2}, id="another GPU"),
        pytest.param({"gpus_per_node": 8}, id="a larger node"),
        pytest.param({"free_nodes": 0}, id="no free node"),
        pytest.param({"currency": "EUR"}, id="a currency without a frozen rate"),
        pytest.param(
            {"available_until": NOON + timedelta(hours=7, minutes=59)}, id="too short"
        ),
    ],
)
def test_leaves_an_ask_that_does_not_fit(changes):
    assert keys([make_bid("a", "9")], [make_ask(1, "0.33", **changes)]) == []


def test_takes_an_ask_that_lasts_exactly_long_enough():
    ask = make_ask(1, "0.33", available_until=NOON + timedelta(hours=8))

    assert keys([make_bid("a", "0.33")], [ask]) == [("a", 1)]


def test_passes_over_a_cheap_ask_that_ends_too_early():
    cheap = make_ask(1, "0.30", available_until=NOON + timedelta(hours=4))
    bids = [make_bid("long", "0.50"), make_bid("short", "0.40", hours=4)]

    assert keys(bids, [cheap, make_ask(2, "0.33")]) == [("long", 2), ("short", 1)]


def test_matches_a_multi_gpu_request_on_one_node_of_its_size():
    bid = make_bid("a", "3", gpus=4)
    asks = [make_ask(1, "2", free_nodes=4), make_ask(2, "2.50", gpus_per_node=4)]

    assert keys([bid], asks) == [("a", 2)]


def test_compares_another_currency_through_the_frozen_rate():
    # 0.30 EUR at 1.10 USD for a euro is 0.33 USD; 0.32 USD is cheaper.
    bid = make_bid("a", "0.33", rates={"USD": Decimal(1), "EUR": Decimal("1.10")})
    euro = make_ask(1, "0.30", currency="EUR")

    assert keys([bid], [euro]) == [("a", 1)]
    assert keys([bid], [euro, make_ask(2, "0.32")]) == [("a", 2)]
    assert keys([make_bid("b", "0.329", rates=bid.rates)], [euro]) == []


def test_rounds_a_converted_ask_to_the_six_decimals_of_a_limit():
    # 0.33 / 1.0857 = 0.303950...; the quote's limit was this, rounded down.
    factor = 1 / Decimal("1.0857")
    bid = make_bid("a", "0.303951", rates={"USD": factor})

    assert factor * Decimal("0.33") > Decimal("0.303951")
    assert keys([bid], [make_ask(1, "0.33")]) == [("a", 1)]


def test_leaves_the_offers_of_its_owner():
    bid = make_bid("a", "0.40", avoids=frozenset({1}))

    assert keys([bid], [make_ask(1, "0.33")]) == []
    assert keys([bid], [make_ask(1, "0.33"), make_ask(2, "0.34")]) == [("a", 2)]


@pytest.mark.parametrize(
    ("asks", "found"),
    [
        pytest.param([make_ask(1, "0.45"), make_ask(2, "0.44")], 2, id="over limit"),
        pytest.param([make_ask(1, "0.10", region=ELSEWHERE)], None, id="elsewhere"),
        pytest.param([], None, id="nothing asked"),
    ],
)
def test_names_the_cheapest_ask_whatever_the_limit(asks, found):
    ask = cheapest(make_bid("a", "0.40"), asks, at=NOON)

    assert (ask.key if ask else None) == found


def test_gives_the_last_node_to_one_of_fifty():
    bids = [make_bid(f"{number:02}", "0.40") for number in range(50)]

    assert keys(bids, [make_ask(1, "0.33")]) == [("00", 1)]


PLACES = st.sampled_from([PARIS, FRANKFURT, ELSEWHERE])
REGIONS = st.frozensets(PLACES, min_size=1)
PRICES = st.integers(1, 6).map(lambda tenths: Decimal(tenths) / 10)
RATES = st.sampled_from(
    [
        {"USD": Decimal(1)},
        {"USD": Decimal(1), "EUR": Decimal("1.1")},
        {"USD": Decimal("0.8"), "EUR": Decimal("0.9"), "GBP": Decimal(1)},
    ]
)
BIDS = st.builds(
    Bid,
    key=st.none(),
    gpu_id=st.integers(1, 2),
    gpus=st.sampled_from([1, 8]),
    regions=REGIONS,
    hours=st.integers(1, 4),
    limit=PRICES,
    rank=PRICES,
    currency=st.just("USD"),
    rates=RATES,
    funded_at=st.integers(0, 3).map(lambda hour: NOON - timedelta(hours=hour)),
    # The keys of asks are numbers from zero on: some of these are its own offers.
    avoids=st.frozensets(st.integers(0, 5), max_size=2),
)
ASKS = st.builds(
    Ask,
    key=st.none(),
    gpu_id=st.integers(1, 2),
    gpus_per_node=st.sampled_from([1, 8]),
    region=PLACES,
    free_nodes=st.integers(0, 3),
    price=PRICES,
    currency=st.sampled_from(["USD", "EUR", "GBP"]),
    listed_at=st.integers(0, 3).map(lambda day: NOON - timedelta(days=day)),
    available_until=st.none()
    | st.integers(0, 5).map(lambda hour: NOON + timedelta(hours=hour)),
)


@st.composite
def books(draw):
    bids = draw(st.lists(BIDS, max_size=25))
    asks = draw(st.lists(ASKS, max_size=12))
    for number, bid in enumerate(bids):
        object.__setattr__(bid, "key", f"{number:02}")
    for number, ask in enumerate(asks):
        object.__setattr__(ask, "key", number)
    return bids, asks


def can_take(bid, ask):
    lasts = ask.available_until is None or (
        ask.available_until - NOON >= timedelta(hours=bid.hours)
    )
    return (
        lasts
        and ask.gpu_id == bid.gpu_id
        and ask.gpus_per_node == bid.gpus
        and ask.region in bid.regions
        and ask.currency in bid.rates
        and ask.key not in bid.avoids
        and ask.price * bid.rates[ask.currency] <= bid.limit
    )


def slow_and_obvious(bids, asks):
    """
    The rule of the book as it is written, without a thought for speed.
    """
    left = {ask.key: ask.free_nodes for ask in asks}
    pairings = []
    for bid in sorted(bids, key=lambda bid: (-bid.rank, bid.funded_at, bid.key)):
        takable = [ask for ask in asks if left[ask.key] > 0 and can_take(bid, ask)]
        if not takable:
            continue
        ask = min(
            takable,
            key=lambda ask: (
                ask.price * bid.rates[ask.currency],
                ask.listed_at,
                ask.key,
            ),
        )
        left[ask.key] -= 1
        pairings.append(Pairing(bid, ask))
    return pairings


@settings(max_examples=200, deadline=None)
@given(book=books(), shuffled=st.randoms())
def test_agrees_with_the_slow_model_in_any_order(book, shuffled):
    bids, asks = book
    expected = slow_and_obvious(bids, asks)
    shuffled.shuffle(bids)
    shuffled.shuffle(asks)

    assert match_book(bids=bids, asks=asks, at=NOON) == expected


def matched(book):
    """
    Return the pairings, who waits still, and which nodes are left, by ask.
    """
    bids, asks = book
    pairings = match_book(bids=bids, asks=asks, at=NOON)
    served = {bid.key for bid, _ in pairings}
    taken = Counter(ask.key for _, ask in pairings)
    waiting = [bid for bid in bids if bid.key not in served]
    left = {ask.key: ask.free_nodes - taken[ask.key] for ask in asks}
    return pairings, waiting, left


PROMISE = settings(max_examples=80, deadline=None)


@PROMISE
@given(book=books())
def test_nobody_waits_while_a_node_they_could_afford_idles(book):
    _, waiting, left = matched(book)
    idle = [ask for ask in book[1] if left[ask.key] > 0]

    assert not any(can_take(bid, ask) for bid in waiting for ask in idle)


@PROMISE
@given(book=books())
def test_nobody_pays_over_the_limit_or_under_the_ask(book):
    for bid, ask in matched(book)[0]:
        assert ask in book[1], "the price is the ask's, as it stood in the book"
        assert ask.price * bid.rates[ask.currency] <= bid.limit


@PROMISE
@given(book=books())
def test_a_higher_limit_or_an_earlier_funding_is_never_passed_over(book):
    pairings, waiting, _ = matched(book)
    for bid, ask in pairings:
        for other in waiting:
            is_first = (-other.rank, other.funded_at) < (-bid.rank, bid.funded_at)
            assert not (is_first and can_take(other, ask))


@PROMISE
@given(book=books())
def test_nodes_are_never_over_committed(book):
    assert all(nodes >= 0 for nodes in matched(book)[2].values())


@PROMISE
@given(book=books())
def test_quantity_is_conserved(book):
    bids, asks = book
    pairings, waiting, left = matched(book)

    assert len({bid.key for bid, _ in pairings}) == len(pairings), "served once"
    assert len(pairings) + len(waiting) == len(bids)
    assert len(pairings) + sum(left.values()) == sum(ask.free_nodes for ask in asks)


@PROMISE
@given(book=books())
def test_own_offers_and_failed_ones_are_avoided(book):
    assert all(ask.key not in bid.avoids for bid, ask in matched(book)[0])


@PROMISE
@given(book=books())
def test_the_order_is_that_of_limits_and_funding(book):
    turns = [(-bid.rank, bid.funded_at, bid.key) for bid, _ in matched(book)[0]]

    assert turns == sorted(turns)


@PROMISE
@given(book=books(), first=st.integers(0, 25))
def test_the_logged_part_of_the_book_gives_the_same_matches(book, first):
    bids, asks = book
    pairings = match_book(bids=bids, asks=asks, at=NOON)[:first]

    part, looked_at = decided_from(bids=bids, asks=asks, pairings=pairings)
    rows = write_bids(part), write_asks(looked_at)
    again = match_book(bids=read_bids(rows[0]), asks=read_asks(rows[1]), at=NOON)

    assert again == pairings


@settings(max_examples=100, deadline=None)
@given(book=books(), cut=st.integers(0, 25))
def test_goes_on_where_it_was_interrupted(book, cut):
    """
    Some pairings applied and the rest computed anew are the whole list.
    """
    bids, asks = book
    whole = match_book(bids=bids, asks=asks, at=NOON)
    done = whole[:cut]
    served = {bid.key for bid, _ in done}
    taken = [ask.key for _, ask in done]
    rest = match_book(
        bids=[bid for bid in bids if bid.key not in served],
        asks=[
            make_ask(**vars_of(ask, free_nodes=ask.free_nodes - taken.count(ask.key)))
            for ask in asks
        ],
        at=NOON,
    )

    assert [(bid.key, ask.key) for bid, ask in done + rest] == [
        (bid.key, ask.key) for bid, ask in whole
    ]


def vars_of(ask, **changes):
    return {name: getattr(ask, name) for name in Ask.__slots__} | changes
