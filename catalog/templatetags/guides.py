"""
Turns the plain text of a guide into paragraphs and lists.
"""

from itertools import groupby

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe

register = template.Library()

ITEM = "- "


@register.filter
def prose(text: str) -> SafeString:
    """
    Return the text as HTML: blank lines separate paragraphs, "- " starts an item.
    """
    pieces = [piece.strip() for piece in text.split("\n\n") if piece.strip()]
    return mark_safe("\n".join(_piece(piece) for piece in pieces))  # noqa: S308


def _piece(piece: str) -> SafeString:
    parts = [
        _items(list(lines)) if is_list else format_html("<p>{}</p>", " ".join(lines))
        for is_list, lines in groupby(piece.splitlines(), _is_item)
    ]
    return format_html_join("\n", "{}", ((part,) for part in parts))


def _is_item(line: str) -> bool:
    return line.startswith(ITEM)


def _items(lines: list[str]) -> SafeString:
    items = format_html_join(
        "", "<li>{}</li>", ((line.removeprefix(ITEM),) for line in lines)
    )
    return format_html("<ul>{}</ul>", items)
