from decimal import Decimal

import pytest
from django.utils import translation
from djmoney.money import Money
from hypothesis import given
from hypothesis import strategies as st

import formats
from money import (
    AmountNotUnderstood,
    fee_of,
    from_minor,
    parse_amount,
    quantize,
    round_half_up,
    split,
    to_minor,
)

CENTS = st.integers(min_value=-(10**12), max_value=10**12).map(
    lambda cents: Decimal(cents) / 100
)


@pytest.mark.parametrize(
    ("amount", "rounded"),
    [
        ("0.125", "0.13"),
        ("0.135", "0.14"),
        ("1.005", "1.01"),
        ("-0.125", "-0.13"),
        ("2.674999", "2.67"),
        ("96.375", "96.38"),
        ("90071992547409.93", "90071992547409.93"),
    ],
)
def test_rounds_half_away_from_zero(amount, rounded):
    assert str(round_half_up(Decimal(amount))) == rounded


def test_zero_has_no_minus():
    assert str(round_half_up(Decimal("-0.001"))) == "0.00"


@pytest.mark.parametrize("function", [round_half_up, lambda x: split(x, 3)])
def test_a_float_is_not_an_amount(function):
    with pytest.raises(TypeError):
        function(1.15)


@pytest.mark.parametrize("amount", ["NaN", "Infinity"])
def test_what_is_not_a_number_is_not_rounded(amount):
    with pytest.raises(ValueError, match="cannot be rounded"):
        round_half_up(Decimal(amount))


def test_quantize_rounds_to_the_minor_unit_of_the_currency():
    assert quantize(Money("0.125", "USD")) == Money("0.13", "USD")
    assert quantize(Money("730.5", "JPY")) == Money("731", "JPY")


@pytest.mark.parametrize(
    ("amount", "currency", "minor"),
    [
        pytest.param("730", "JPY", 730, id="M16-yen-has-no-minor-unit"),
        pytest.param("730", "USD", 73000, id="M16-dollar-has-cents"),
        *(
            pytest.param(amount, "EUR", minor, id=f"M18-{amount}")
            for amount, minor in [
                ("19.99", 1999),
                ("8.20", 820),
                ("17.99", 1799),
                ("64.10", 6410),
                ("1.15", 115),
                ("4.35", 435),
                ("78.40", 7840),
            ]
        ),
    ],
)
def test_minor_units_are_exact(amount, currency, minor):
    assert to_minor(Money(amount, currency)) == minor


@pytest.mark.parametrize(
    "money",
    [
        pytest.param(Money("730.5", "JPY"), id="M16-half-a-yen"),
        pytest.param(Money("0.005", "USD"), id="half-a-cent"),
    ],
)
def test_a_fraction_of_a_minor_unit_is_refused(money):
    with pytest.raises(ValueError, match="fraction of a minor unit"):
        to_minor(money)


@pytest.mark.parametrize("amount", [19.99, Decimal("19.99"), 20])
def test_minor_units_need_a_currency(amount):
    with pytest.raises(TypeError):
        to_minor(amount)


@pytest.mark.parametrize(
    ("minor", "currency", "amount"),
    [
        pytest.param(100, "jpy", "100", id="M17-yen"),
        pytest.param(100, "eur", "1.00", id="M17-euro"),
        pytest.param(-5, "USD", "-0.05", id="negative"),
    ],
)
def test_from_minor_units(minor, currency, amount):
    money = from_minor(minor, currency)

    assert str(money.amount) == amount
    assert money.currency.code == currency.upper()


@pytest.mark.parametrize("minor", [19.99, Decimal(19), "19", True])
def test_only_whole_numbers_are_minor_units(minor):
    with pytest.raises(TypeError):
        from_minor(minor, "USD")


def test_gateway_gets_the_rounded_amount_m60e():
    assert to_minor(quantize(Money("13.9974", "USD"))) == 1400


@pytest.mark.parametrize(
    ("text", "amount"),
    [
        ("0.33", "0.33"),
        ("0,33", "0.33"),
        ("12\u00a0€", "12.00"),
        ("0,33\u00a0US$", "0.33"),
        ("US$0,33", "0.33"),
        ("$1008.50", "1008.50"),
        ("£ 5", "5.00"),
        ("0,33\u00a0GBP", "0.33"),
        ("  7.5  ", "7.50"),
        ("999999999.99", "999999999.99"),
        pytest.param("204,60", "204.60", id="M81-decimal-comma"),
        pytest.param("19053,79", "19053.79", id="M81-report"),
    ],
)
def test_point_and_comma_are_both_the_decimal_mark(text, amount):
    assert str(parse_amount(text)) == amount


@pytest.mark.parametrize(
    "text",
    [
        "1.008", "1,008", "1.008,50", "1,008.50", "1e3", "١٢", "-1", "+1", "NaN", "",
        " ", "$", "0", "0,00", "0.001", "1 000", "1\u00a0000", "1_000", ".5", "5.",
        "1234567890", "12 EUR €", "$-5",
    ],
)  # fmt: skip
def test_anything_else_is_not_an_amount(text):
    with pytest.raises(AmountNotUnderstood):
        parse_amount(text)


def test_the_refusal_says_how_to_write_it():
    with pytest.raises(AmountNotUnderstood) as caught:
        parse_amount("1.008")

    assert "without thousands separators" in str(caught.value)
    assert "1250.50 or 1250,50" in str(caught.value)


@given(st.integers(min_value=1, max_value=99_999_999_999))
def test_every_amount_is_read_back_as_it_is_written(cents):
    amount = Decimal(cents) / 100

    for mark in ".,":
        assert parse_amount(f"{amount:.2f}".replace(".", mark)) == amount


@pytest.mark.parametrize(
    ("amount", "parts"),
    [
        pytest.param("100.00", ["33.34", "33.33", "33.33"], id="M67-hundred"),
        pytest.param("0.05", ["0.02", "0.02", "0.01"], id="M67-five-cents"),
        pytest.param("-0.05", ["-0.02", "-0.02", "-0.01"], id="refund"),
        pytest.param("0", ["0.00", "0.00", "0.00"], id="nothing"),
    ],
)
def test_splits_by_largest_remainder(amount, parts):
    assert [str(part) for part in split(Decimal(amount), 3)] == parts


@given(CENTS, st.integers(min_value=1, max_value=50))
def test_parts_add_up_and_differ_by_a_cent_at_most(amount, parts):
    shares = split(amount, parts)

    assert len(shares) == parts
    assert sum(shares) == amount
    assert max(shares) - min(shares) <= Decimal("0.01")


@pytest.mark.parametrize(("amount", "parts"), [("0.005", 2), ("1.00", 0)])
def test_what_cannot_be_split_is_refused(amount, parts):
    with pytest.raises(ValueError, match=r"An amount|fraction of a cent"):
        split(Decimal(amount), parts)


@pytest.mark.parametrize(
    ("total", "rate", "fee", "rest"),
    [
        pytest.param("10.03", "0.125", "1.25", "8.78", id="M67"),
        pytest.param("400.00", "0.025", "10.00", "390.00", id="M65"),
        pytest.param("65.00", "0.023", "1.50", "63.50", id="M60d"),
    ],
)
def test_fee_and_rest(total, rate, fee, rest):
    assert fee_of(Decimal(total), Decimal(rate)) == (Decimal(fee), Decimal(rest))


def test_surcharge_is_the_same_on_every_path_m60d():
    surcharge, _ = fee_of(Decimal("65.00"), Decimal("0.023"))

    assert Decimal("65.00") + surcharge == Decimal("66.50")


@given(CENTS, st.decimals(min_value=0, max_value=1, places=6))
def test_fee_and_rest_add_up(total, rate):
    fee, rest = fee_of(total, rate)

    assert fee + rest == total
    assert fee == round_half_up(fee)


@pytest.mark.parametrize("rate", ["-0.01", "12.5"])
def test_a_fee_rate_is_a_fraction(rate):
    with pytest.raises(ValueError, match="between 0 and 1"):
        fee_of(Decimal(1), Decimal(rate))


def test_arithmetic_keeps_sub_cent_prices_m78():
    price = -Money(Decimal("0.0049"), "USD", decimal_places=4)

    assert price.amount == Decimal("-0.0049")
    assert formats.rate(price, "en") == "-$0.0049"
    assert formats.money(Money("1.23", "EUR") * 1, "en") == "€1.23"


def test_messages_are_translated_when_they_are_shown():
    with translation.override("es"), pytest.raises(AmountNotUnderstood) as caught:
        parse_amount("")

    assert isinstance(str(caught.value), str)
    assert caught.value.message == str(caught.value)
