"""
Every pair of colors that meets on a page has the contrast that WCAG 2.2 AA asks for.
"""

import re
from pathlib import Path

import pytest

STYLESHEET = Path(__file__).parents[2] / "marketplace/static/corehour.css"
TOKEN = re.compile(
    r"--([a-z0-9-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\);", re.IGNORECASE
)
THEMES = ("light", "dark")
GROUNDS = ("paper", "sheet", "well")

# SC 1.4.3: text, foreground and ground, 4.5 : 1.
TEXT = [
    *((ink, ground) for ink in ("ink", "ink-soft") for ground in GROUNDS),
    *((ink, ground) for ink in ("brand", "brand-strong") for ground in GROUNDS),
    *((tone, ground) for tone in ("fits", "tight", "no") for ground in GROUNDS),
    *(
        (ink, f"{well}-well")
        for ink in ("ink", "ink-soft")
        for well in ("brand", "fits", "tight", "no")
    ),
    *((tone, f"{tone}-well") for tone in ("brand", "fits", "tight", "no")),
    ("brand-strong", "brand-well"),
    ("brand-ink", "brand"),
    ("brand-ink", "brand-strong"),
    ("no-ink", "no"),
]
# SC 1.4.11: edges of fields and buttons, marks, focus rings, 3 : 1.
MARKS = [
    *(("line-strong", ground) for ground in GROUNDS),
    *(("brand", ground) for ground in GROUNDS),
    *((tone, f"{tone}-well") for tone in ("fits", "tight", "no")),
    ("brand", "no-well"),
    # The limit of a bar stands in a case of the sheet's color.
    ("ink", "sheet"),
    ("no", "sheet"),
]


def colors(theme: str) -> dict[str, str]:
    index = THEMES.index(theme) + 2
    text = STYLESHEET.read_text()
    return {match[1]: match[index] for match in TOKEN.finditer(text)}


def luminance(color: str) -> float:
    """
    Return the relative luminance of #rrggbb as WCAG 2.2 defines it.
    """
    channels = [int(color[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    red, green, blue = (
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in channels
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    lighter, darker = sorted((luminance(one), luminance(other)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        # Black on white is 21 : 1 by definition; #767676 is the well-known last gray
        # that passes on white, #777777 the first that fails.
        ("#000000", "#ffffff", 21.0),
        ("#767676", "#ffffff", 4.54),
        ("#777777", "#ffffff", 4.48),
    ],
)
def test_formula_gives_known_ratios(one, other, expected):
    assert contrast(one, other) == pytest.approx(expected, abs=0.005)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("ink", "ground"), TEXT)
def test_text_is_readable(theme, ink, ground):
    palette = colors(theme)

    assert contrast(palette[ink], palette[ground]) >= 4.5


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize(("mark", "ground"), MARKS)
def test_marks_are_visible(theme, mark, ground):
    palette = colors(theme)

    assert contrast(palette[mark], palette[ground]) >= 3
