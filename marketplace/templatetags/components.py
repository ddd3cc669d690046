"""
What the components need that a template cannot work out: the geometry of a bar.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django import template

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
