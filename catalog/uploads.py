"""
Reads an uploaded CSV file into rows, or says why it cannot be read.
"""

import csv
from collections.abc import Iterator, Sequence
from io import StringIO
from typing import Any

from django.utils.translation import gettext as _

MOST_LINES = 20_000
MOST_BYTES = 2_000_000

Row = dict[str | None, Any]


class FileRefused(Exception):
    """
    A file is none that rows can be read from; the message says why.
    """


def decode(content: bytes) -> str:
    """
    Return the text of an uploaded file.

    :raises FileRefused: if it is too large or not UTF-8
    """
    if len(content) > MOST_BYTES:
        raise FileRefused(_("The file is larger than 2 MB. Divide it."))
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FileRefused(
            _("The file is not UTF-8. Save it as “CSV UTF-8”.")
        ) from error
    if "\0" in text:
        raise FileRefused(_("This is not a CSV file."))
    return text


def read_rows(text: str, *, must_have: Sequence[str]) -> list[tuple[int, Row]]:
    """
    Return the rows below the head, each with the number of its line.

    A row with too many cells has them under None; one with too few has None as values.

    :raises FileRefused: if columns are missing, or there are no lines or too many
    """
    try:
        rows = list(_rows(text, must_have))
    except csv.Error as error:
        raise FileRefused(_("This is not a CSV file.")) from error
    if not rows:
        raise FileRefused(_("The file has no lines below its head."))
    if len(rows) > MOST_LINES:
        raise FileRefused(_("The file has more than 20,000 lines. Divide it."))
    return rows


def _rows(text: str, must_have: Sequence[str]) -> Iterator[tuple[int, Row]]:
    reader: csv.DictReader[Any] = csv.DictReader(StringIO(text), strict=True)
    heads = [head.strip() for head in reader.fieldnames or []]
    reader.fieldnames = heads
    _check_heads(heads, must_have)
    for row in reader:
        yield reader.line_num, row


def _check_heads(heads: list[str], must_have: Sequence[str]) -> None:
    if len(heads) == 1 and ";" in heads[0]:
        raise FileRefused(
            _("The columns are divided by semicolons. Save the file with commas.")
        )
    if missing := [name for name in must_have if name not in heads]:
        raise FileRefused(
            _("These columns are missing in the first line: %(names)s.")
            % {"names": ", ".join(missing)}
        )
