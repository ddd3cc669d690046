"""
What a page says about an ask in every row of a long table, without a template each.

A table says the same few things a hundred times: what needs no ask is written once and
remembered.
"""

from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from html import escape
from typing import Protocol

from django import template
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString, mark_safe
from django.utils.timezone import get_current_timezone
from django.utils.translation import gettext, ngettext, pgettext

import formats
from catalog.asks import Ask
from catalog.machines import Machine
from catalog.names import region_city

register = template.Library()

REMEMBERED = 10_000


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
    return _free_badge(
        stock.free_nodes, stock.is_free, stock.is_few, formats.language()
    )


@lru_cache(REMEMBERED)
def _free_badge(nodes: int, is_free: bool, is_few: bool, language: str) -> SafeString:
    if not is_free:
        return _badge("error", gettext("none free"))
    number = formats.number(nodes, language)
    if is_few:
        text = ngettext("%(number)s node left", "%(number)s nodes left", nodes)
        return _badge("warning", text % {"number": number})
    text = ngettext("%(number)s node free", "%(number)s nodes free", nodes)
    return _badge("success", text % {"number": number})


@register.filter
def as_of(ask: Ask) -> str:
    """
    Return who asks a price and when it was last said to be true.
    """
    on = ask.as_of.astimezone(get_current_timezone()).date()
    return _as_of(ask.supplier, on, formats.language())


@lru_cache(REMEMBERED)
def _as_of(supplier: str, on: date, language: str) -> str:
    day = formats.day(on, language, get_current_timezone(), is_short=True)
    text = gettext("%(supplier)s, as of %(day)s")
    return text % {"supplier": supplier, "day": day.replace(" ", "\u00a0")}


@register.filter
def machine(found: Machine) -> str:
    """
    Return what is around the GPUs of a node, in one line.
    """
    language = formats.language()
    text = gettext("%(cores)s cores, %(ram)s RAM, %(disk)s disk, %(network)s Gbit/s")
    line = text % {
        "cores": formats.number(found.cpu_cores, language),
        "ram": formats.gigabytes(found.ram_gb, language),
        "disk": formats.gigabytes(found.disk_gb, language),
        "network": formats.number(found.network_gbps, language),
    }
    return f"{line}, CUDA {found.cuda_version}" if found.cuda_version else line


@register.filter
def asked(ask: Ask) -> SafeString:
    """
    Return a price with who asks it, as of when, and what is free.
    """
    return format_html(
        '<b>{}</b><br>{}<br><small class="narrow">{}</small>',
        formats.rate(ask.rate, formats.language()),
        free_badge(ask),
        as_of(ask),
    )


@register.filter
def places(asks: Sequence[Ask]) -> SafeString | str:
    """
    Return where a GPU can be had and where few are left; who asks what, folded away.
    """
    if not asks:
        return ""
    language, zone = formats.language(), get_current_timezone()
    cities, lines = [], []
    for ask in asks:
        city = region_city(ask.region)
        few = f" {free_badge(ask)}" if ask.is_few else ""
        cities.append(f"{escape(city)}{few}")
        price = f" {formats.rate(ask.rate, language)}" if len(asks) > 1 else ""
        by = _as_of(ask.supplier, ask.as_of.astimezone(zone).date(), language)
        lines.append(f"<small>{escape(f'{city}{price}, {by}')}</small>")
    # Every text in it is escaped above.
    return mark_safe(  # noqa: S308
        f'<details class="fold"><summary>{", ".join(cities)}</summary>'
        f"{''.join(lines)}</details>"
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
    return (
        f"{city} {formats.rate(ask.rate, formats.language())}"
        if len(asks) > 1
        else city
    )


@register.filter
def from_price(ask: Ask | None) -> SafeString:
    """
    Say that a price is the lowest of several, or that there is none.
    """
    if ask is None:
        return format_html('<span class="soft">{}</span>', gettext("no live ask"))
    text = pgettext("the lowest of several prices", "from <b>%(price)s</b>")
    price = formats.rate(ask.rate, formats.language())
    return format_html(text.replace("%(price)s", "{}"), price)


def _badge(kind: str, text: str) -> SafeString:
    return format_html('<span class="badge {}">{}</span>', kind, text)
