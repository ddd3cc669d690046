"""
Django's own templates say what a widget has to be.
"""

import re

import pytest
from django import forms
from django.forms.renderers import TemplatesSetting

from catalog.forms import PlannerState
from catalog.models import BaseModel
from marketplace.form_renderer import ComponentRenderer

HOSTILE = "\"><svg onload='x'>&"
CHOICES = [
    ("", "---"),
    ("1", HOSTILE),
    (HOSTILE, "One"),
    ("Group " + HOSTILE, [("2", "Two"), ("3", "Three")]),
]


def between_tags(html):
    """
    Return the HTML without the spaces and line ends around its tags.
    """
    return re.sub(r"\s*(<|>)\s*", r"\1", html)


def assert_same(widget, name, value, attrs=None):
    ours = widget.render(name, value, attrs, renderer=ComponentRenderer())
    djangos = widget.render(name, value, attrs, renderer=TemplatesSetting())
    assert between_tags(ours) == between_tags(djangos)
    assert "<svg" not in ours


@pytest.mark.parametrize(
    "widget",
    [
        forms.TextInput(),
        forms.NumberInput(attrs={"min": 0, "step": "any"}),
        forms.EmailInput(),
        forms.PasswordInput(render_value=True),
        forms.HiddenInput(),
        forms.DateInput(),
        forms.CheckboxInput(),
        forms.Select(choices=CHOICES),
        forms.NullBooleanSelect(),
        forms.RadioSelect(choices=CHOICES),
        forms.CheckboxSelectMultiple(choices=CHOICES),
        forms.SelectMultiple(choices=CHOICES),
        forms.Textarea(),
    ],
    ids=lambda widget: type(widget).__name__,
)
@pytest.mark.parametrize("value", [None, "", "1", HOSTILE, ["1", "2"], True, 0, 0.5])
def test_widget_is_what_django_makes_of_it(widget, value):
    several = isinstance(value, list)
    if several != getattr(widget, "allow_multiple_selected", several):
        value = [value] if value and not several else value and value[0]
    attrs = {"id": "id_" + HOSTILE, "required": True, "disabled": False, "x": HOSTILE}

    assert_same(widget, HOSTILE, value)
    assert_same(widget, HOSTILE, value, {**attrs, "class": HOSTILE, "data-n": 1})


@pytest.mark.parametrize("query", [{}, {"source": "own", "model": HOSTILE}])
def test_fields_of_the_planner_are_what_django_makes_of_them(catalog, query):
    state = PlannerState(query, models=BaseModel.objects.all())
    fields = [*state.form, *(state.shape or [])]

    for field in fields:
        widget, value = field.field.widget, field.value()
        attrs = field.build_widget_attrs({"id": field.auto_id}, widget)
        assert_same(widget, field.html_name, value, attrs)
    assert len(fields) > 15
