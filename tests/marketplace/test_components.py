"""
The components: the geometry of bars, and the rules that all templates keep.
"""

import gzip
import re
from decimal import Decimal
from pathlib import Path

import pytest
from django.template.loader import render_to_string

from marketplace.templatetags.components import bar_geometry

ROOT = Path(__file__).parents[2]
STATIC = ROOT / "marketplace/static"
TEMPLATES = sorted(
    path
    for path in (ROOT / "templates").rglob("*.html")
    # Mail programs know no stylesheets: mails are the one place for inline styles.
    if path.parent.name not in {"email", "emails"}
)
PARTS = [
    {"label": "Base model", "value": Decimal(6)},
    {"label": "Activations", "value": Decimal(3)},
    {"label": "Context", "value": Decimal(1), "kind": "part-5"},
]


def test_bar_is_drawn_to_the_scale_of_its_total():
    bar = bar_geometry(PARTS, 40)

    assert [(part.kind, part.x, part.width) for part in bar.segments] == [
        ("part-1", "0.00%", "15.00%"),
        ("part-2", "15.00%", "7.50%"),
        ("part-5", "22.50%", "2.50%"),
    ]
    assert not bar.is_over
    assert bar.limit == bar.upto == ""


def test_bar_beyond_its_total_shows_where_the_limit_is():
    bar = bar_geometry(PARTS, 8)

    assert bar.is_over
    assert bar.limit == "80.00%"
    assert bar.segments[-1].x == "90.00%"


def test_upper_estimate_stretches_the_bar():
    # Needed 10 of 12, up to 16: the scale ends at 16.
    bar = bar_geometry(PARTS, 12, 16)

    assert not bar.is_over
    assert (bar.end, bar.limit, bar.upto) == ("62.50%", "75.00%", "100.00%")


def test_bar_of_nothing_is_empty():
    bar = bar_geometry([], 0)

    assert bar.segments == []


@pytest.mark.parametrize("language", ["en", "es", "id"])
def test_bar_writes_numbers_for_svg_in_every_language(language):
    context = {"parts": PARTS, "total": 40, "label": "10 of 40 GB"}

    html = render_to_string("components/bar.html", context)

    assert 'x="15.00%" y="2" width="7.50%"' in html
    assert 'aria-label="10 of 40 GB"' in html


@pytest.mark.parametrize("path", TEMPLATES, ids=lambda path: path.name)
def test_template_keeps_the_strict_policy(path):
    html = path.read_text()

    assert not re.search(
        r"\sstyle\s*=|<style|javascript:|\son[a-z]+\s*=", _without_tags(path)
    )
    for script in re.findall(r"<script\b[^>]*>", html):
        assert "src=" in script or "json" in script


@pytest.mark.parametrize(
    "path",
    sorted((ROOT / "templates/components").glob("*.html")),
    ids=lambda path: path.name,
)
def test_component_says_what_it_shows(path):
    assert re.match(r"\{# \w[^\n]* #\}\n", path.read_text())


def test_every_class_is_in_the_stylesheet():
    stylesheet = (STATIC / "corehour.css").read_text()
    known = set(re.findall(r"\.([a-z][\w-]*)", stylesheet))
    # "mark-{{ number }}" leaves its beginning, which the numbered classes share.
    known |= {re.sub(r"\d+$", "", name) for name in known}

    unknown = {
        f"{path.name}: {name}"
        for path in TEMPLATES
        for attribute in re.findall(r'\sclass="([^"]*)"', _without_tags(path))
        for name in attribute.split()
        if name not in known
    }

    assert not unknown


def _without_tags(path: Path) -> str:
    """
    Return a template's HTML with spaces where Django would write something.
    """
    return re.sub(r"\{%.*?%\}|\{\{.*?\}\}|\{#.*?#\}", " ", path.read_text())


@pytest.mark.parametrize(
    ("name", "limit"),
    [
        ("corehour.css", 20_000),
        ("site.js", 3_000),
        ("price_chart.js", 3_000),
        ("vendor/htmx-4.0.1.min.js", 17_000),
        ("vendor/uplot-1.6.32.min.js", 23_000),
    ],
)
def test_file_is_small(name, limit):
    assert len(gzip.compress((STATIC / name).read_bytes())) <= limit
