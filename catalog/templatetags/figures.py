"""
Writes the values of a table whose lines differ in kind.
"""

from collections.abc import Callable
from typing import Any

from django import template
from django.utils.translation import gettext, pgettext

import formats

register = template.Library()

WRITERS: dict[str, Callable[[Any, str], str]] = {
    "gb": formats.gigabytes,
    "billions": formats.billions,
    "rate": formats.rate,
    "money": formats.money,
    "text": lambda value, _language: str(value),
    "link": lambda value, _language: _link(value),
}


@register.filter
def figure(value: Any, kind: str) -> str:
    """
    Return a value in the reader's language; a kind that is not known is its unit.
    """
    if value is None:
        return gettext("no live ask") if kind in {"rate", "money"} else "–"
    language = formats.language()
    if writer := WRITERS.get(kind):
        return writer(value, language)
    return f"{formats.number(value, language)} {kind}"


def _link(value: str) -> str:
    return pgettext("no link between GPUs", "none") if value == "no" else value
