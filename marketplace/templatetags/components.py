"""
What the components need that a template cannot work out, or would take long over.

Bars and verdicts stand in every row of long tables: they are written here, because an
include for each is most of what such a page costs.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import template
from django.utils.html import conditional_escape, format_html
from django.utils.safestring import SafeString, mark_safe
from django.utils.translation import gettext

from marketplace import devices

register = template.Library()

KINDS = 5


@dataclass(frozen=True, kw_only=True)
class Segment:
    """
    One part of a bar; its start and width are SVG lengths such as "15.2%".
    """

    kind: str
    x: str
    width: str


@dataclass(frozen=True, kw_only=True)
class Bar:
    """
    A bar drawn to scale: its parts, the limit they must stay below, the whisker.
    """

    segments: list[Segment]
    limit: str
    end: str
    upto: str
    is_over: bool


@register.simple_tag
def bar_geometry(
    parts: Iterable[Mapping[str, Any]],
    total: Decimal | float,
    upto: Decimal | float | None = None,
) -> Bar:
    """
    Return where to draw each part, so that the longest of all just fits.

    Parts beyond the total, or an upper estimate beyond it, make the scale longer, and
    the limit then stands inside the bar. `limit` and `upto` are empty when not drawn.
    """
    amounts = [(part, Decimal(str(part["value"]))) for part in parts]
    limit, end = Decimal(str(total)), sum((amount for _, amount in amounts), Decimal())
    reach = max(end, Decimal(str(upto or 0)))
    scale = max(limit, reach) or Decimal(1)
    segments, x = [], Decimal()
    for index, (part, amount) in enumerate(amounts):
        kind = part.get("kind") or part_kind(index)
        width = _percent(amount / scale)
        segments.append(Segment(kind=kind, x=_percent(x / scale), width=width))
        x += amount
    return Bar(
        segments=segments,
        limit=_percent(limit / scale) if reach > limit else "",
        end=_percent(end / scale),
        upto=_percent(reach / scale) if reach > end else "",
        is_over=end > limit,
    )


@register.simple_tag
def bar(
    parts: Iterable[Mapping[str, Any]],
    total: Decimal | float,
    label: str,
    *,
    upto: Decimal | float | None = None,
    used: str = "",
    room: str = "",
) -> SafeString:
    """
    Draw amounts that add up against a limit; see `bar.html` for what it takes.
    """
    drawn = bar_geometry(parts, total, upto)
    ends = _bar_ends(drawn, conditional_escape(used), conditional_escape(room))
    # Everything that is not escaped is a number or a class of ours.
    return mark_safe(  # noqa: S308
        f'<div class="bar{" over" if drawn.is_over else ""}">'
        f'<svg role="img" aria-label="{conditional_escape(label)}">'
        f"{''.join(_bar_shapes(drawn))}</svg>{ends}</div>"
    )


def _bar_shapes(drawn: Bar) -> Iterator[str]:
    ground = drawn.limit or "100%"
    yield f'<rect class="ground" x="0" y="2" width="{ground}" height="12" rx="2" />'
    for each in drawn.segments:
        yield (
            f'<rect class="part {conditional_escape(each.kind)}" x="{each.x}" y="2"'
            f' width="{each.width}" height="12" />'
        )
    if drawn.upto:
        yield _bar_line("upto", drawn.end, drawn.upto, 8, 8)
        yield _bar_line("upto", drawn.upto, drawn.upto, 4, 12)
    if drawn.limit:
        yield _bar_line("limit-case", drawn.limit, drawn.limit, 0, 16)
        yield _bar_line("limit", drawn.limit, drawn.limit, 0, 16)


def _bar_line(kind: str, start: str, end: str, top: int, bottom: int) -> str:
    return f'<line class="{kind}" x1="{start}" x2="{end}" y1="{top}" y2="{bottom}" />'


def _bar_ends(drawn: Bar, used: str, room: str) -> str:
    key = ' class="limit-key"' if drawn.limit else ""
    if drawn.is_over:
        return (
            f'<div class="bar-ends"><span{key}>{room}</span><span>{used}</span></div>'
        )
    if not (used or room):
        return ""
    return f'<div class="bar-ends"><span>{used}</span><span{key}>{room}</span></div>'


@register.filter
def verdict(value: str) -> SafeString:
    """
    Show whether a job fits a GPU: "fits", "tight" or "no".
    """
    if value == "fits":
        kind, text = "fits", gettext("Fits")
    elif value == "tight":
        kind, text = "tight", gettext("Tight")
    else:
        kind, text = "no", gettext("Does not fit")
    return format_html('<span class="verdict {}">{}</span>', kind, text)


@register.filter
def part_kind(index: int) -> str:
    """
    Return the class that colors the part at this place, the same in bar and legend.
    """
    return f"part-{index % KINDS + 1}"


@register.filter
def beside(cells: Iterable[Any], heads: Iterable[Any]) -> list[tuple[Any, Any]]:
    """
    Return each cell of a table's row with the head of its column.
    """
    return list(zip(cells, heads, strict=True))


def _percent(share: Decimal) -> str:
    return f"{share * 100:.2f}%"


@register.filter
def browser(user_agent: str) -> str:
    return devices.name_of(user_agent)
