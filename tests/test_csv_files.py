from datetime import UTC, datetime
from decimal import Decimal

import pytest
from djmoney.money import Money

from csv_files import csv_lines, unguarded

OCTOBER = datetime(2026, 10, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("value", "cell"),
    [
        ("=1+1", "'=1+1"),
        ("+1", "'+1"),
        ("-1", "'-1"),
        ("@SUM(A1)", "'@SUM(A1)"),
        ("  =1", "'  =1"),
        ("\t=1", "'\t=1"),
        ("\0", "'\0"),
        ("plain", "plain"),
        (None, ""),
        (8, "8"),
        (Money("-5.00", "USD"), "-5.00"),
        (Decimal("-0.5"), "-0.5"),
        (OCTOBER, "2026-10-01T00:00:00+00:00"),
        (OCTOBER.replace(microsecond=5), "2026-10-01T00:00:00.000005+00:00"),
    ],
)
def test_text_is_no_formula_and_numbers_stay_numbers(value, cell):
    head, line = csv_lines(["=head"], [[value]])

    assert head == "'=head\r\n"
    assert line.removesuffix("\r\n").strip('"') == cell


@pytest.mark.parametrize("text", ["=1", "'=1", "''=1", "'plain", " @x", "it's", ""])
def test_a_guarded_text_is_read_as_it_was(text):
    _head, line = csv_lines(["head"], [[text]])

    assert unguarded(line.removesuffix("\r\n").strip('"')) == text
