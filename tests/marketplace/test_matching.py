from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from marketplace.matching import Ask, Bid, Pairing, match_book

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


@settings(max_examples=400, deadline=None)
@given(book=books(), shuffled=st.randoms())
def test_agrees_with_the_slow_model_in_any_order(book, shuffled):
    bids, asks = book
    expected = slow_and_obvious(bids, asks)
    shuffled.shuffle(bids)
    shuffled.shuffle(asks)

    assert match_book(bids=bids, asks=asks, at=NOON) == expected


@settings(max_examples=400, deadline=None)
@given(book=books())
def test_keeps_its_promises(book):
    bids, asks = book
    pairings = match_book(bids=bids, asks=asks, at=NOON)
    taken = [ask.key for _, ask in pairings]
    idle = [ask for ask in asks if taken.count(ask.key) < ask.free_nodes]
    served = {bid.key for bid, _ in pairings}
    waiting = [bid for bid in bids if bid.key not in served]

    assert len(served) == len(pairings), "a request is served once"
    assert all(taken.count(ask.key) <= ask.free_nodes for ask in asks)
    assert all(can_take(bid, ask) for bid, ask in pairings)
    assert not any(can_take(bid, ask) for bid in waiting for ask in idle)
    for bid, ask in pairings:
        for other in waiting:
            passed_over = (-other.rank, other.funded_at) < (-bid.rank, bid.funded_at)
            assert not (passed_over and can_take(other, ask))


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
