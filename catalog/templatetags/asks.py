"""
What a page says about an ask in every row of a long table, without a template each.
"""

from collections.abc import Sequence
from typing import Protocol

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone
from django.utils.translation import get_language, gettext, ngettext, pgettext

import formats
from catalog.asks import Ask
from catalog.names import region_city

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
def places(asks: Sequence[Ask]) -> SafeString:
    """
    Return where a GPU can be had, by whom, and where few are left: a line each.
    """
    return format_html_join(
        "",
        "<small>{}, {}{}</small>",
        (
            (_place(ask, asks), as_of(ask), _badge_of_few(ask) if ask.is_few else "")
            for ask in asks
        ),
    )


@register.filter
def places_with_stock(asks: Sequence[Ask]) -> SafeString:
    """
    Return where a GPU can be had, how many are free, and by whom: a line each.
    """
    return format_html_join(
        "",
        "<div>{} {} <small>{}</small></div>",
        ((_place(ask, asks), free_badge(ask), as_of(ask)) for ask in asks),
    )


def _place(ask: Ask, asks: Sequence[Ask]) -> str:
    """
    Return the city of an ask, with its price where there are several.
    """
    city = region_city(ask.region)
    return f"{city} {formats.rate(ask.rate, _language())}" if len(asks) > 1 else city


def _badge_of_few(ask: Ask) -> SafeString:
    return format_html(" {}", free_badge(ask))


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
