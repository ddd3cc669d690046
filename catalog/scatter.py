"""
The geometry of a scatter of estimates against measurements, both on log scales.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import log

SIZE = 300
LEAST_GB, MOST_GB = 3.0, 110.0
TICKS_GB = (4, 8, 16, 32, 64)
TOLERANCE = 0.1

# Marks around a point, drawn from its middle: a disc and a square are caps of a line
# without length, a triangle and a cross are outlines.
MARKS = ("h0", "h0", "m-3 2.5h6l-3-5.5z", "m-2.5-2.5l5 5m0-5l-5 5")


@dataclass(frozen=True)
class Point:
    """
    One run, in 1e9 bytes.
    """

    observed_gb: float
    estimated_gb: float
    series: str


@dataclass(frozen=True)
class Tick:
    """
    A line of the grid; `at` from the left, `down` from the top.
    """

    gb: int
    at: str
    down: str


@dataclass(frozen=True)
class Scatter:
    """
    An SVG drawing of `size` by `size`: one path a series, the band of ten per cent.
    """

    size: int
    series: list[tuple[int, str]]
    band: str
    ticks: list[Tick]


def draw(points: Iterable[Point], *, series: Sequence[str]) -> Scatter:
    """
    Return where to draw the points; a series is numbered by its place in `series`.
    """
    paths: dict[str, list[str]] = {name: [] for name in series}
    for point in points:
        mark = MARKS[series.index(point.series)]
        x, y = _along(point.observed_gb), _along(point.estimated_gb)
        paths[point.series].append(f"M{x:.1f} {SIZE - y:.1f}{mark}")
    return Scatter(
        size=SIZE,
        series=[
            (number, "".join(paths[name]))
            for number, name in enumerate(series, start=1)
            if paths[name]
        ],
        band=_band(),
        ticks=[
            Tick(gb, f"{_along(gb):.1f}", f"{SIZE - _along(gb):.1f}") for gb in TICKS_GB
        ],
    )


def _along(gb: float) -> float:
    """
    Return the place on an axis, from its beginning.
    """
    inside = min(max(gb, LEAST_GB), MOST_GB)
    return SIZE * log(inside / LEAST_GB) / log(MOST_GB / LEAST_GB)


def _band() -> str:
    """
    Return the outline of what is within the tolerance of the measurement.
    """
    corners = [
        (LEAST_GB, LEAST_GB * (1 - TOLERANCE)),
        (LEAST_GB, LEAST_GB * (1 + TOLERANCE)),
        (MOST_GB / (1 + TOLERANCE), MOST_GB),
        (MOST_GB, MOST_GB),
        (MOST_GB, MOST_GB * (1 - TOLERANCE)),
        (LEAST_GB / (1 - TOLERANCE), LEAST_GB),
    ]
    places = [f"{_along(x):.1f} {SIZE - _along(y):.1f}" for x, y in corners]
    return f"M{'L'.join(places)}z"
