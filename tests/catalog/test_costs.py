from decimal import Decimal

import pytest
from djmoney.money import Money
from hypothesis import given
from hypothesis import strategies as st

from catalog.costs import (
    PLANNING_WINDOWS,
    cost_window,
    pilot,
    storage_cost,
    tokens_per_second,
)

RATES = st.integers(min_value=1, max_value=50_000_000).map(
    lambda millionths: Money(Decimal(millionths) / 1_000_000, "USD")
)


def usd(amount):
    return Money(amount, "USD")


@pytest.mark.parametrize(
    ("rate", "windows"),
    [
        pytest.param("0.34", ("2.72", "13.60", "40.80"), id="RTX 4090 of GPURento"),
        pytest.param("0.33", ("2.64", "13.20", "39.60"), id="RTX 4090 of EverXCloud"),
    ],
)
def test_windows_of_the_seed_pages(rate, windows):
    totals = [
        cost_window(hours=hours, gpus=1, rate=usd(rate)).total
        for hours in PLANNING_WINDOWS
    ]

    assert totals == [usd(window) for window in windows]


def test_storage_of_a_working_week():
    # 200 GB x 0.09 USD x 40 h / 730 h = 0.98630
    cost = storage_cost(gb=200, monthly_rate=usd("0.09"), hours=40)

    assert cost == usd("0.99")


def test_every_line_of_a_window():
    # Compute 2 x 0.40 x 40 = 32.00; storage as above 0.99; in all 200 GB x 0.09 x
    # (40 + 7 x 24 = 208 h) / 730 h = 5.12877, so 5.13 - 0.99 = 4.14 after the run.
    cost = cost_window(
        hours=40,
        gpus=2,
        rate=usd("0.40"),
        storage_gb=200,
        storage_rate=usd("0.09"),
        kept_days=7,
    )

    assert cost.compute == usd("32.00")
    assert cost.storage == usd("0.99")
    assert cost.kept_storage == usd("4.14")
    assert cost.total == usd("37.13")


@pytest.mark.parametrize(
    ("hours", "rate", "amount"),
    [
        pytest.param(Decimal(2820) / 3600, "2.49", "1.95", id="M49-47-minutes"),
        pytest.param(Decimal(120) / 3600, "3.60", "0.12", id="M49-2-minutes"),
        pytest.param(Decimal(1) / 3, "0.33", "0.11", id="a-third-of-an-hour"),
        pytest.param(0, "0.33", "0.00", id="nothing"),
    ],
)
def test_costs_to_the_second(hours, rate, amount):
    assert cost_window(hours=hours, gpus=1, rate=usd(rate)).total == usd(amount)


def test_half_a_cent_is_rounded_up():
    assert cost_window(hours=1, gpus=1, rate=usd("0.125")).total == usd("0.13")


@given(
    rate=RATES,
    storage_rate=RATES,
    hours=st.integers(min_value=0, max_value=2000),
    gpus=st.integers(min_value=1, max_value=8),
    gb=st.integers(min_value=0, max_value=5000),
    days=st.integers(min_value=0, max_value=60),
)
def test_lines_add_up_and_storage_is_one_meter(
    rate, storage_rate, hours, gpus, gb, days
):
    cost = cost_window(
        hours=hours,
        gpus=gpus,
        rate=rate,
        storage_gb=gb,
        storage_rate=storage_rate,
        kept_days=days,
    )

    assert cost.total == cost.compute + cost.storage + cost.kept_storage
    assert cost.storage + cost.kept_storage == storage_cost(
        gb=gb, monthly_rate=storage_rate, hours=hours + 24 * days
    )
    assert cost.kept_storage.amount >= 0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"hours": -1}, "negative"),
        ({"gpus": -1}, "negative"),
        ({"storage_gb": -1}, "negative"),
        ({"kept_days": -1}, "negative"),
        ({"storage_rate": None}, "needs a rate"),
        ({"storage_rate": Money("0.09", "EUR")}, "different currencies"),
    ],
)
def test_refuses_what_cannot_be_priced(changes, message):
    asked = {
        "hours": 8,
        "gpus": 1,
        "rate": usd("0.33"),
        "storage_gb": 200,
        "storage_rate": usd("0.09"),
    }

    with pytest.raises(ValueError, match=message):
        cost_window(**(asked | changes))


def test_hours_are_no_floats():
    with pytest.raises(TypeError, match="float"):
        cost_window(hours=0.1, gpus=1, rate=usd("0.33"))


def test_negative_storage_has_no_cost():
    with pytest.raises(ValueError, match="negative"):
        storage_cost(gb=-1, monthly_rate=usd("0.09"), hours=40)


def test_pilot_to_an_accepted_checkpoint():
    # 54 M tokens x 2 epochs at 2,500 a second are 43,200 s = 12 h; 3 h of evaluation;
    # one run in four fails: 15 h / 0.75 = 20 h, 5 h of them lost. 20 x 0.33 = 6.60.
    # Storage 100 GB x 0.09 x 20 / 730 = 0.25; with 10 days x 24 h: 260 h, 3.21 in all.
    result = pilot(
        rate=usd("0.33"),
        measured_tokens_per_second=Decimal(2500),
        dataset_tokens=54_000_000,
        epochs=2,
        evaluation_hours=3,
        failed_share=Decimal("0.25"),
        storage_gb=100,
        storage_rate=usd("0.09"),
        kept_days=10,
    )

    assert result.training_seconds == 12 * 3600
    assert result.evaluation_seconds == 3 * 3600
    assert result.failed_seconds == 5 * 3600
    assert result.hours == 20
    assert result.cost.compute == usd("6.60")
    assert result.cost.storage == usd("0.25")
    assert result.cost.kept_storage == usd("2.96")
    assert result.cost.total == usd("9.81")


def test_speed_from_a_measured_step():
    # 8 samples x 2,048 tokens in 6.4 s
    speed = tokens_per_second(seconds_per_step=Decimal("6.4"), tokens_per_step=8 * 2048)

    assert speed == 2560


@pytest.mark.parametrize(("seconds", "tokens"), [(0, 100), (1, 0)])
def test_a_step_takes_time_and_has_tokens(seconds, tokens):
    with pytest.raises(ValueError, match="A step"):
        tokens_per_second(seconds_per_step=Decimal(seconds), tokens_per_step=tokens)


@pytest.mark.parametrize(
    "changes",
    [
        {"measured_tokens_per_second": Decimal(0)},
        {"dataset_tokens": 0},
        {"epochs": 0},
        {"failed_share": Decimal(1)},
        {"failed_share": Decimal("-0.1")},
        {"evaluation_hours": -3},
    ],
)
def test_refuses_a_pilot_without_sense(changes):
    asked = {
        "rate": usd("0.33"),
        "measured_tokens_per_second": Decimal(2500),
        "dataset_tokens": 1_000_000,
    }

    with pytest.raises(ValueError, match=r"above zero|share|negative"):
        pilot(**(asked | changes))


@given(share=st.decimals(min_value=0, max_value=Decimal("0.9"), places=3))
def test_more_failed_runs_never_cost_less(share):
    asked = {
        "rate": usd("2.88"),
        "measured_tokens_per_second": Decimal(3000),
        "dataset_tokens": 10_000_000,
    }

    without, with_failures = (
        pilot(**asked),
        pilot(**asked, failed_share=share),
    )

    assert with_failures.total_seconds >= without.total_seconds
    assert with_failures.cost.total >= without.cost.total
