"""
CSV files that a spreadsheet opens without running anything in them.
"""

import csv
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from decimal import Decimal

from django.http import StreamingHttpResponse
from djmoney.money import Money

STARTS_A_FORMULA = ("=", "+", "-", "@", "\t", "\r", "\n", "\0")
GUARD = "'"
# Anything else at the start needs no second look, and files are long.
SUSPICIOUS = {*STARTS_A_FORMULA, GUARD, " "}

Value = str | int | Money | Decimal | datetime | None


class _Echo:
    """
    A file that hands back what is written to it, so that rows can be streamed.
    """

    def write(self, text: str) -> str:
        return text


def csv_lines(heads: Sequence[str], rows: Iterable[Sequence[Value]]) -> Iterator[str]:
    """
    Yield the lines of a CSV file (RFC 4180) with a head.

    Text that a spreadsheet would run as a formula gets an apostrophe in front; amounts
    stay numbers, also below zero, and times are written in UTC.
    """
    writer = csv.writer(_Echo())
    yield writer.writerow([_cell(head) for head in heads])
    for row in rows:
        yield writer.writerow([_cell(value) for value in row])


def csv_response(lines: Iterable[str], *, name: str) -> StreamingHttpResponse:
    """
    Return lines as a file to be saved under a name.
    """
    return StreamingHttpResponse(
        lines,
        content_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"'},
    )


def unguarded(cell: str) -> str:
    """
    Return a cell of a file as it was before `csv_lines` guarded it.
    """
    if cell.startswith(GUARD) and _is_formula(cell.removeprefix(GUARD)):
        return cell.removeprefix(GUARD)
    return cell


def _cell(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Decimal):
        return f"{value:f}"
    if isinstance(value, datetime):
        timespec = "microseconds" if value.microsecond else "seconds"
        return value.astimezone(UTC).isoformat(timespec=timespec)
    if isinstance(value, Money):
        return f"{value.amount:f}"
    text = str(value)
    return f"{GUARD}{text}" if _is_formula(text) else text


def _is_formula(text: str) -> bool:
    if text[:1] not in SUSPICIOUS:
        return False
    # Apostrophes count as guards: a text that has its own gets another one.
    return text.lstrip(f" {GUARD}").startswith(STARTS_A_FORMULA)
