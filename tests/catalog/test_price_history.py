"""
What was asked over time, against figures worked out by hand.
"""

import csv
import json
import re
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext
from djmoney.money import Money
from hypothesis import given
from hypothesis import strategies as st

from catalog.models import OfferPrice, Region, Supplier
from catalog.price_history import (
    AskedPrice,
    history,
    moments_until,
    percentile,
    read_history,
)
from tests.catalog.pages import tables_of, text_of

MIDNIGHT = datetime(2026, 11, 1, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def amounts(*texts):
    return [Decimal(text) for text in texts]


# Of n amounts the share s lies at place (n - 1) s, counted from 0, and between two
# amounts in proportion: of 1, 2, 4, 8, 16 the 10th percentile is at 0.4, which is 1.4.
@pytest.mark.parametrize(
    ("ordered", "low", "middle", "high"),
    [
        pytest.param(["0.33"], "0.33", "0.33", "0.33", id="one"),
        pytest.param(["0.30", "0.40"], "0.31", "0.35", "0.39", id="two"),
        pytest.param(["1", "2", "4", "8", "16"], "1.4", "4", "12.8", id="five"),
        pytest.param(["1", "1", "1", "9"], "1", "1", "6.6", id="equal ones"),
        pytest.param(
            ["0.000001", "0.000002"], "0.000001", "0.000002", "0.000002", id="rounded"
        ),
    ],
)
def test_percentiles(ordered, low, middle, high):
    found = [
        percentile(amounts(*ordered), Decimal(share)) for share in ("0.1", "0.5", "0.9")
    ]

    assert found == amounts(low, middle, high)


def test_percentiles_are_those_of_postgresql(db):
    ordered = sorted(amounts("0.34", "0.29", "0.41", "0.33", "0.38", "0.30", "1.99"))
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT percentile_cont(ARRAY[0.1, 0.25, 0.5, 0.9]) WITHIN GROUP"
            " (ORDER BY amount) FROM unnest(%s::numeric[]) AS amount",
            [ordered],
        )
        [theirs] = cursor.fetchone()

    ours = [
        percentile(ordered, Decimal(share)) for share in ("0.1", "0.25", "0.5", "0.9")
    ]
    assert ours == [round(Decimal(repr(value)), 6) for value in theirs]


def at_hours(*hours):
    return [MIDNIGHT + hour * HOUR for hour in hours]


def asked(amount, since, until=None):
    until = None if until is None else MIDNIGHT + until * HOUR
    return AskedPrice(Decimal(amount), MIDNIGHT + since * HOUR, until)


def test_counts_a_price_from_its_start_until_just_before_its_end():
    points = history([asked("0.40", 1, 3)], at_hours(0, 1, 2, 3))

    assert [point.figures and point.figures.asks for point in points] == [
        None,
        1,
        1,
        None,
    ]


def test_gives_the_best_ask_the_median_and_the_band_of_each_moment():
    prices = [
        asked("0.50", 0),
        asked("0.40", 1),
        asked("0.30", 2, 3),
        asked("0.40", 2, 3),
    ]

    points = history(prices, at_hours(0, 1, 2, 3))

    assert [
        tuple(str(getattr(point.figures, name)) for name in ("best", "median", "asks"))
        for point in points
    ] == [
        ("0.50", "0.500000", "1"),
        ("0.40", "0.450000", "2"),
        ("0.30", "0.400000", "4"),
        ("0.40", "0.450000", "2"),
    ]
    # 0.30, 0.40, 0.40, 0.50: places 0.3 and 2.7.
    assert (points[2].figures.low, points[2].figures.high) == (
        Decimal("0.33"),
        Decimal("0.47"),
    )


@given(
    st.lists(
        st.tuples(
            st.integers(1, 5), st.integers(0, 9), st.integers(1, 9), st.booleans()
        ),
        max_size=12,
    )
)
def test_is_what_looking_at_each_moment_alone_gives(rows):
    prices = [
        asked(str(amount), since, since + length if has_end else None)
        for amount, since, length, has_end in rows
    ]
    moments = at_hours(*range(12))

    points = history(prices, moments)

    for point in points:
        there = sorted(
            price.amount
            for price in prices
            if price.since <= point.at and (not price.until or point.at < price.until)
        )
        assert (point.figures is None) == (not there)
        if there:
            assert point.figures.best == there[0]
            assert point.figures.asks == len(there)
            assert point.figures.median == percentile(there, Decimal("0.5"))


def test_looks_at_the_start_of_each_utc_day_and_at_now(now):
    assert moments_until(now, days=3) == [
        datetime(2026, 11, 28, tzinfo=UTC),
        datetime(2026, 11, 29, tzinfo=UTC),
        datetime(2026, 11, 30, tzinfo=UTC),
        now,
    ]
    assert len(moments_until(MIDNIGHT, days=3)) == 3


@pytest.fixture
def read(gpu, region, now):
    def read(**changes):
        values = {"gpu_id": gpu.pk, "region_id": region.pk, "days": 90, "at": now}
        return read_history(**{**values, **changes})

    return read


@pytest.fixture
def version(offer, now):
    def add(price, *, days_ago, confirmed=None, to=offer, currency="USD"):
        start = now - days_ago * DAY
        return OfferPrice.objects.create(
            offer=to,
            hourly_price=Money(price, currency),
            valid_from=start,
            confirmed_at=start if confirmed is None else now - confirmed * DAY,
            created_at=start,
        )

    return add


def days_with(read_history, best):
    return [
        point.at
        for point in read_history.points
        if point.figures and point.figures.best == Decimal(best)
    ]


def test_a_price_counts_for_thirty_days_after_it_was_confirmed(version, read, now):
    """A price that nobody confirms leaves a gap, as it leaves every "from"."""
    version("0.50", days_ago=80, confirmed=70)

    days = days_with(read(), "0.50")

    # From noon of day 80 on; at noon of day 40 it is 30 days old.
    assert days[0] == (now - 79 * DAY).replace(hour=0)
    assert days[-1] == (now - 40 * DAY).replace(hour=0)
    assert len(days) == 40


def test_the_next_version_ends_a_price(version, read, now):
    version("0.50", days_ago=10)
    version("0.45", days_ago=5)

    found = read()

    assert len(days_with(found, "0.50")) == len(days_with(found, "0.45")) == 5
    assert days_with(found, "0.40") == [now]


def test_other_gpus_and_regions_do_not_count(make_offer, read, now):
    elsewhere = Region.objects.create(slug="b", name="B", city="Bergen", country="NO")
    make_offer(region=elsewhere)

    assert days_with(read(), "0.40") == []
    assert days_with(read(region_id=elsewhere.pk), "0.40") == [now]


def test_currencies_are_not_mixed(version, make_offer, read):
    other = make_offer(
        supplier=Supplier.objects.create(slug="b", name="B"),
        price="0.35",
        currency="EUR",
    )
    version("0.36", days_ago=3, to=other, currency="EUR")

    in_euros, in_dollars = read(), read(currency="USD")

    assert in_euros.currencies == ["EUR", "USD"], "the most frequent first"
    assert in_euros.points[-1].figures.best == Decimal("0.35")
    assert in_dollars.points[-1].figures.best == Decimal("0.40")
    assert read(currency="GBP").currency == "EUR"


def test_puts_days_without_a_change_together_and_shows_gaps(version, read, now):
    version("0.50", days_ago=60, confirmed=60)
    version("0.45", days_ago=10)

    today, now_only = read().periods[1], read().periods[0]

    assert [
        (period.first, period.last, period.prices and period.prices["best"])
        for period in read().periods
    ] == [
        (date(2026, 11, 30), date(2026, 11, 30), Money("0.40", "USD")),
        (date(2026, 11, 21), date(2026, 11, 30), Money("0.45", "USD")),
        (date(2026, 10, 31) + DAY, date(2026, 11, 20), None),
        (date(2026, 10, 2), date(2026, 10, 31), Money("0.50", "USD")),
    ]
    assert (today.asks, now_only.asks) == (1, 1)


def test_asks_one_query_however_many_versions_there_are(version, read):
    for days_ago in range(1, 40):
        version("0.50", days_ago=days_ago)

    with CaptureQueriesContext(connection) as queries:
        read()

    assert len(queries) == 1


@pytest.fixture
def _at_noon(now):
    with time_machine.travel(now, tick=False):
        yield


@pytest.mark.usefixtures("_at_noon")
@pytest.mark.parametrize("language", ["", "/es", "/id"])
def test_page_has_a_chart_with_the_figures_as_data(version, client, gpu, language):
    version("0.50", days_ago=10)

    source = client.get(f"{language}/gpus/{gpu.slug}/").content.decode()

    data = json.loads(
        re.search(r'id="price-history" type="application/json">(.*?)<', source)[1]
    )
    assert len(data["times"]) == len(data["best"]) == 91
    assert data["best"][-2:] == ["0.500000", "0.400000"]
    assert data["best"][0] is None
    assert (data["currency"], data["times"][0]) == ("USD", 1788307200)
    assert "uplot" in source
    assert "<script>" not in source


@pytest.mark.usefixtures("_at_noon")
def test_page_has_the_same_as_a_table(version, client, gpu):
    version("0.50", days_ago=2)

    rows = tables_of(client.get(f"/gpus/{gpu.slug}/"))[1]

    assert rows == [
        ["Nov 30, 2026", "$0.40", "$0.40", "$0.40 – $0.40", "1"],
        [
            "Nov 29, 2026 – Nov 30, 2026",
            "$0.50",
            "$0.50",
            "$0.50 – $0.50",
            "1",
        ],
    ]


@pytest.mark.usefixtures("_at_noon")
def test_page_says_that_there_is_not_enough_data_and_loads_no_chart(offer, client, gpu):
    page = client.get(f"/gpus/{gpu.slug}/")

    assert "There is not enough data for a chart of EU North · Oslo" in text_of(page)
    assert "uplot" not in page.content.decode()


@pytest.mark.usefixtures("_at_noon")
def test_page_shows_the_region_of_the_best_ask_first_and_any_other(catalog, client):
    first = client.get("/gpus/rtx-4090/").context["prices"]
    other = client.get("/gpus/rtx-4090/?region=eu-west-paris&days=30").context["prices"]
    odd = client.get("/gpus/rtx-4090/?region=x&days=9&currency=x").context["prices"]

    assert first.region.slug == odd.region.slug == "eu-central-frankfurt"
    assert (first.days, other.days, odd.days) == (90, 30, 90)
    assert other.region.slug == "eu-west-paris"


@pytest.mark.usefixtures("_at_noon")
def test_csv_has_every_day(version, client, gpu):
    version("0.50", days_ago=2)

    answer = client.get(f"/gpus/{gpu.slug}/prices.csv?days=30")

    rows = list(csv.reader(answer.content.decode().splitlines()))
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert ",".join(rows[0]) == "at,region,currency,best_ask,p10,median,p90,asks"
    assert len(rows) == 1 + 31
    assert rows[1] == ["2026-11-01T00:00:00+00:00", "eu-north", "USD", *[""] * 4, "0"]
    assert rows[-1][3:] == ["0.400000", "0.400000", "0.400000", "0.400000", "1"]
    assert rows[-2][3] == "0.500000"


@pytest.mark.parametrize("slug", ["test-gpu", "missing"])
def test_csv_of_what_nobody_offers_is_not_found(gpu, client, slug):
    assert client.get(f"/gpus/{slug}/prices.csv").status_code == 404
