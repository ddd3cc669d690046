"""
What a page says about an ask in every row of a long table, without a template each.
"""

from typing import Protocol

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone
from django.utils.translation import get_language, gettext, ngettext, pgettext

import formats
from catalog.asks import Ask

register = template.Library()


class Stocked(Protocol):
    """
    Anything that has free nodes: an ask, or a cell of the availability.
    """

    @property
    def free_nodes(self) -> int: ...
    @property
    def is_free(self) -> bool: ...
    @property
    def is_few(self) -> bool: ...


@register.filter
def free_badge(stock: Stocked) -> SafeString:
    """
    Return how many nodes are free, as a badge.
    """
    if not stock.is_free:
        return _badge("error", gettext("none free"))
    number = formats.number(stock.free_nodes, _language())
    if stock.is_few:
        text = ngettext(
            "%(number)s node left", "%(number)s nodes left", stock.free_nodes
        )
        return _badge("warning", text % {"number": number})
    text = ngettext("%(number)s node free", "%(number)s nodes free", stock.free_nodes)
    return _badge("success", text % {"number": number})


@register.filter
def as_of(ask: Ask) -> str:
    """
    Return who asks a price and when it was last said to be true.
    """
    day = formats.day(ask.as_of, _language(), get_current_timezone(), is_short=True)
    text = gettext("%(supplier)s, as of %(day)s")
    return text % {"supplier": ask.supplier, "day": day}


@register.filter
def asked(ask: Ask) -> SafeString:
    """
    Return a price with who asks it, as of when, and what is free.
    """
    return format_html(
        '<b>{}</b><br>{}<br><small class="narrow">{}</small>',
        formats.rate(ask.rate, _language()),
        free_badge(ask),
        as_of(ask),
    )


@register.filter
def from_price(ask: Ask | None) -> SafeString:
    """
    Say that a price is the lowest of several, or that there is none.
    """
    if ask is None:
        return format_html('<span class="soft">{}</span>', gettext("no live ask"))
    text = pgettext("the lowest of several prices", "from <b>%(price)s</b>")
    price = formats.rate(ask.rate, _language())
    return format_html(text.replace("%(price)s", "{}"), price)


def _badge(kind: str, text: str) -> SafeString:
    return format_html('<span class="badge {}">{}</span>', kind, text)


def _language() -> str:
    return get_language() or "en"
