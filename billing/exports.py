"""
CSV files that a spreadsheet opens without running anything in them.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from djmoney.money import Money

STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0")


class _Echo:
    """
    A file that hands back what is written to it, so that rows can be streamed.
    """

    def write(self, text: str) -> str:
        return text


def csv_lines(
    heads: Sequence[str], rows: Iterable[Sequence[str | Money | Decimal | datetime]]
) -> Iterator[str]:
    """
    Yield the lines of a CSV file (RFC 4180) with a head.

    Text that a spreadsheet would run as a formula gets an apostrophe in front; amounts
    stay numbers, also below zero, and times are written in UTC.
    """
    writer = csv.writer(_Echo())
    yield writer.writerow([_cell(head) for head in heads])
    for row in rows:
        yield writer.writerow([_cell(value) for value in row])


def _cell(value: str | Money | Decimal | datetime) -> str:
    if isinstance(value, Money):
        return f"{value.amount:f}"
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="seconds")
    if value.lstrip(" ").startswith(STARTS_A_FORMULA):
        return f"'{value}"
    return value
