"""
The filters for everything that is a number, an amount or a time on a page.

They write in the active language and the current time zone; `formats` has the rules.
Nothing is written for None, so that a missing time needs no condition.
"""

from datetime import UTC, date, datetime, timedelta, tzinfo
from decimal import Decimal
from functools import lru_cache

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.timezone import get_current_timezone
from djmoney.money import Money

import formats

register = template.Library()


@register.filter
def money(value: Money | None) -> str:
    return "" if value is None else formats.money(value, formats.language())


@register.filter
def rate(value: Money | None) -> str:
    return "" if value is None else formats.rate(value, formats.language())


@register.filter
def num(value: Decimal | float | None, places: int | None = None) -> str:
    return "" if value is None else formats.number(value, formats.language(), places)


@register.filter
def pct(value: Decimal | float | None, places: int | None = None) -> str:
    return "" if value is None else formats.percent(value, formats.language(), places)


@register.filter
def billions(value: Decimal | float | None) -> str:
    return "" if value is None else formats.billions(value, formats.language())


@register.filter
def gb(value: Decimal | float | None, places: int | None = None) -> str:
    return "" if value is None else formats.gigabytes(value, formats.language(), places)


@register.filter
def when(at: datetime | None, style: str = "long") -> str:
    """
    Show a moment in the reader's time zone and, on hover, in UTC.

    `|when:"short"` is for tables.
    """
    if at is None:
        return ""
    return _when(at, formats.language(), get_current_timezone(), style == "short")


@lru_cache(formats.REMEMBERED)
def _when(at: datetime, language: str, zone: tzinfo, is_short: bool) -> SafeString:
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>',
        at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        formats.date_time(at, language, UTC, is_short=is_short),
        formats.date_time(at, language, zone, is_short=is_short),
    )


@register.filter
def day(at: datetime | date | None, style: str = "long") -> str:
    """
    Show a date in the reader's time zone; `|day:"short"` is for tables.
    """
    if at is None:
        return ""
    zone = get_current_timezone()
    return formats.day(at, formats.language(), zone, is_short=style == "short")


@register.filter
def duration(length: timedelta | None) -> str:
    return "" if length is None else formats.duration(length, formats.language())
