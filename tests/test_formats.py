"""
Expected values: DESIGN section 9 and CLDR 48 as ICU 78 writes it.
"""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest
from django.template import Context, Template
from django.utils import timezone, translation
from djmoney.money import Money
from hypothesis import given
from hypothesis import strategies as st

import formats

NBSP = "\u00a0"
EVENING = datetime(2026, 11, 30, 19, 5, tzinfo=UTC)


def by_language(*rows):
    """
    Spread rows of (value, en, es, id) over (value, language, written); ~ is no-break.
    """
    return [
        pytest.param(value, language, text.replace("~", NBSP), id=f"{value} {language}")
        for value, *texts in rows
        for language, text in zip(("en", "es", "id"), texts, strict=True)
    ]


@pytest.mark.parametrize(
    ("value", "language", "written"),
    by_language(
        ("1008", "1,008", "1008", "1.008"),
        ("10000", "10,000", "10.000", "10.000"),
        ("9999.5", "9,999.5", "9999,5", "9.999,5"),
        ("-1008", "-1,008", "-1008", "-1.008"),
        ("1000000", "1,000,000", "1.000.000", "1.000.000"),
        ("-0.0", "0", "0", "0"),
        ("0.0247", "0.0247", "0,0247", "0,0247"),
    ),
)
def test_number(value, language, written):
    assert formats.number(Decimal(value), language) == written


@pytest.mark.parametrize(
    ("value", "places", "language", "written"),
    [
        ("9999.9999", 2, "es", "10.000,00"),
        ("9999.9999", 2, "en", "10,000.00"),
        ("0.125", 2, "en", "0.13"),
        ("7", 2, "en", "7.00"),
        ("1008.5", 0, "id", "1.009"),
        ("-0.001", 2, "en", "0.00"),
    ],
)
def test_number_is_rounded_before_its_digits_are_grouped(
    value, places, language, written
):
    assert formats.number(Decimal(value), language, places) == written


def test_a_measured_float_is_written_as_it_reads():
    assert formats.number(0.1, "en") == "0.1"
    assert formats.number(27.45, "es", places=1) == "27,5"


@pytest.mark.parametrize(
    ("value", "language", "written"),
    by_language(
        ("0.33 USD", "$0.33", "0,33~US$", "US$0,33"),
        ("1008.50 USD", "$1,008.50", "1008,50~US$", "US$1.008,50"),
        ("12345.60 USD", "$12,345.60", "12.345,60~US$", "US$12.345,60"),
        ("0.33 EUR", "€0.33", "0,33~€", "€0,33"),
        ("0.33 GBP", "£0.33", "0,33~GBP", "£0,33"),
        ("-0.33 USD", "-$0.33", "-0,33~US$", "-US$0,33"),
        ("-0.001 USD", "$0.00", "0,00~US$", "US$0,00"),
        ("0.125 USD", "$0.13", "0,13~US$", "US$0,13"),
        ("9999.999 USD", "$10,000.00", "10.000,00~US$", "US$10.000,00"),
    ),
)
def test_money(value, language, written):
    assert formats.money(Money(*value.split()), language) == written


@pytest.mark.parametrize(
    ("value", "language", "written"),
    by_language(
        ("0.33", "$0.33", "0,33~US$", "US$0,33"),
        ("0.330000", "$0.33", "0,33~US$", "US$0,33"),
        ("0.0247", "$0.0247", "0,0247~US$", "US$0,0247"),
        ("0.0375", "$0.0375", "0,0375~US$", "US$0,0375"),
        ("0.1", "$0.10", "0,10~US$", "US$0,10"),
        ("3", "$3.00", "3,00~US$", "US$3,00"),
        ("0.1234567", "$0.123457", "0,123457~US$", "US$0,123457"),
    ),
)
def test_rate_keeps_what_is_less_than_a_cent(value, language, written):
    assert formats.rate(Money(value, "USD"), language) == written


@pytest.mark.parametrize("function", [formats.money, formats.rate])
@pytest.mark.parametrize("value", [0.33, Decimal("0.33"), "0.33"])
def test_an_amount_without_currency_is_refused(function, value):
    with pytest.raises(TypeError):
        function(value, "en")


@pytest.mark.parametrize(
    ("value", "language", "written"),
    by_language(
        ("0.8", "80%", "80~%", "80%"),
        ("0.125", "12.5%", "12,5~%", "12,5%"),
        ("12.5", "1,250%", "1250~%", "1.250%"),
        ("-0.000001", "0%", "0~%", "0%"),
    ),
)
def test_percent(value, language, written):
    assert formats.percent(Decimal(value), language) == written


def test_percent_with_fixed_places():
    assert formats.percent(Decimal("0.8"), "en", 1) == "80.0%"
    assert formats.percent(0.0456, "en", 0) == "5%"


@pytest.mark.parametrize(
    ("value", "language", "written"),
    by_language(
        ("15", "≈ 15B", "≈ 15~mil~M", "≈ 15B"),
        ("7", "≈ 7B", "≈ 7~mil~M", "≈ 7B"),
        ("1.54", "≈ 1.5B", "≈ 1,5~mil~M", "≈ 1,5B"),
        ("8.03", "≈ 8B", "≈ 8~mil~M", "≈ 8B"),
        ("0", "< 1B", "< 1~mil~M", "< 1B"),
    ),
)
def test_billions(value, language, written):
    assert formats.billions(Decimal(value), language) == written


@pytest.mark.parametrize(
    ("value", "language", "written"),
    by_language(
        ("24", "24~GB", "24~GB", "24~GB"),
        ("27.49", "27.5~GB", "27,5~GB", "27,5~GB"),
        ("1008", "1,008~GB", "1008~GB", "1.008~GB"),
    ),
)
def test_gigabytes(value, language, written):
    assert formats.gigabytes(Decimal(value), language) == written


def test_gigabytes_with_fixed_places():
    assert formats.gigabytes(Decimal(24), "es", 1) == f"24,0{NBSP}GB"
    assert formats.gigabytes(27.44, "en", places=0) == f"27{NBSP}GB"


@pytest.mark.parametrize(
    ("language", "written", "short"),
    [
        ("en", "November 30, 2026 at 7:05 PM", "Nov 30, 2026, 7:05 PM"),
        ("es", "30 de noviembre de 2026 a las 19:05", "30 nov 2026, 19:05"),
        ("id", "30 November 2026 pukul 19.05", "30 Nov 2026 19.05"),
    ],
)
def test_date_and_time(language, written, short):
    assert formats.date_time(EVENING, language, UTC) == written
    assert formats.date_time(EVENING, language, UTC, is_short=True) == short


@pytest.mark.parametrize(
    ("language", "written"),
    [
        ("en", "December 1, 2026"),
        ("es", "1 de diciembre de 2026"),
        ("id", "1 Desember 2026"),
    ],
)
def test_day_is_the_day_where_the_reader_is(language, written):
    assert formats.day(EVENING, language, ZoneInfo("Asia/Jakarta")) == written
    assert formats.day(date(2026, 12, 1), language, UTC) == written


@pytest.mark.parametrize(
    ("language", "written"),
    [("en", "Dec 1, 2026"), ("es", "1 dic 2026"), ("id", "1 Des 2026")],
)
def test_writes_a_short_day_for_tables(language, written):
    assert formats.day(date(2026, 12, 1), language, UTC, is_short=True) == written


@pytest.mark.parametrize("function", [formats.date_time, formats.day])
def test_a_time_without_zone_is_refused(function):
    with pytest.raises(ValueError, match="no time zone"):
        function(datetime(2026, 11, 30), "en", UTC)  # noqa: DTZ001


@pytest.mark.parametrize(
    ("length", "en", "indonesian"),
    [
        (timedelta(hours=31, minutes=12), "31~h 12~min", "31~j 12~mnt"),
        (timedelta(hours=40), "40~h", "40~j"),
        (timedelta(hours=47, minutes=59, seconds=59), "47~h 59~min", "47~j 59~mnt"),
        (timedelta(days=2), "2~d", "2~hr"),
        (timedelta(days=12, hours=4, minutes=59), "12~d 4~h", "12~hr 4~j"),
        (timedelta(minutes=17, seconds=59), "17~min", "17~mnt"),
        (timedelta(seconds=59.9), "59~s", "59~dtk"),
        (timedelta(), "0~s", "0~dtk"),
        (timedelta(hours=-3), "-3~h", "-3~j"),
    ],
)
def test_duration_is_rounded_down(length, en, indonesian):
    assert formats.duration(length, "en") == en.replace("~", NBSP)
    assert formats.duration(length, "es") == en.replace("~", NBSP)
    assert formats.duration(length, "id") == indonesian.replace("~", NBSP)


@pytest.mark.parametrize("language", ["en-gb", "de", "pt-br"])
def test_other_languages_read_english(language):
    assert formats.number(Decimal(1008), language) == "1,008"


@given(st.decimals(min_value=-(10**9), max_value=10**9, places=4))
def test_the_digits_do_not_depend_on_the_language(value):
    digits = {
        "".join(mark for mark in formats.number(value, language, 2) if mark not in ".,")
        for language in formats.LOCALES
    }

    assert len(digits) == 1


@pytest.mark.parametrize(
    ("source", "written"),
    [
        ("{{ price|money }}", "0,02~US$"),
        ("{{ price|rate }}", "0,0247~US$"),
        ("{{ bandwidth|num }} GB/s", "1008 GB/s"),
        ("{{ bandwidth|num:1 }}", "1008,0"),
        ("{{ share|pct }}", "80~%"),
        ("{{ size|billions }}", "≈ 15~mil~M"),
        ("{{ memory|gb }}", "24~GB"),
        ("{{ moment|day }}", "30 de noviembre de 2026"),
        ("{{ left|duration }}", "31~h 12~min"),
        (
            "{{ moment|when }}",
            '<time datetime="2026-11-30T19:05:00Z" title="30 de noviembre de 2026 a las'
            ' 19:05 UTC">30 de noviembre de 2026 a las 20:05</time>',
        ),
        (
            '{{ moment|when:"short" }}',
            '<time datetime="2026-11-30T19:05:00Z" title="30 nov 2026, 19:05 UTC">'
            "30 nov 2026, 20:05</time>",
        ),
    ],
)
def test_filters_use_the_language_and_zone_of_the_reader(source, written):
    context = Context(
        {
            "price": Money("0.0247", "USD"),
            "bandwidth": 1008,
            "share": Decimal("0.8"),
            "size": Decimal(15),
            "memory": 24,
            "moment": EVENING,
            "left": timedelta(hours=31, minutes=12),
        }
    )

    with translation.override("es"), timezone.override("Europe/Madrid"):
        page = Template("{% load formats %}" + source).render(context)

    assert page == written.replace("~", NBSP)


@pytest.mark.parametrize(
    "name",
    ["money", "rate", "num", "pct", "billions", "gb", "when", "day", "duration"],
)
def test_filters_write_nothing_for_what_is_not_there(name):
    page = Template("{% load formats %}{{ nothing|" + name + " }}")

    assert page.render(Context({"nothing": None})) == ""
