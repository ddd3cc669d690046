"""
How a long form is drawn: two columns of cards, whose rows hold one or two fields.
"""

from collections.abc import Collection

from django import forms
from django.forms import BoundField
from django.utils.functional import Promise

Columns = list[list[tuple[str | Promise, list[list[str]]]]]
Group = tuple[str | Promise, list[list[BoundField]]]


def columns_of(
    form: forms.Form, columns: Columns, *, without: Collection[str] = ()
) -> list[list[Group]]:
    """
    Return the fields as they are drawn; a row of which none is left is no row.
    """
    return [
        [(heading, _rows(form, rows, without)) for heading, rows in column]
        for column in columns
    ]


def _rows(
    form: forms.Form, rows: list[list[str]], without: Collection[str]
) -> list[list[BoundField]]:
    drawn = ([form[name] for name in row if name not in without] for row in rows)
    return [row for row in drawn if row]
