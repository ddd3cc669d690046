"""
Draws forms: fields by the site's own component, the commonest widgets without one.

The widgets are what Django's templates make of them. Those include a template for
every option and for the attributes of each: in a form of twenty fields that is most of
what the form costs.
"""

from collections.abc import Callable, Mapping
from typing import Any

from django.forms.renderers import TemplatesSetting
from django.http import HttpRequest
from django.utils.html import conditional_escape
from django.utils.safestring import mark_safe

_FOLDER = "django/forms/widgets"
INPUTS = ("checkbox", "date", "email", "hidden", "number", "password", "text")


class ComponentRenderer(TemplatesSetting):
    """
    Draw every form field with the site's own field component.
    """

    field_template_name = "components/field.html"

    def render(
        self,
        template_name: str,
        context: dict[str, Any],
        request: HttpRequest | None = None,
    ) -> str:
        if writer := _WRITERS.get(template_name):
            # All that comes from outside is escaped, piece by piece.
            return mark_safe(writer(context["widget"]))  # noqa: S308
        return super().render(template_name, context, request)


def _input(widget: Mapping[str, Any]) -> str:
    value = widget["value"]
    shown = "" if value is None else f' value="{conditional_escape(value)}"'
    kind, name = conditional_escape(widget["type"]), conditional_escape(widget["name"])
    return f'<input type="{kind}" name="{name}"{shown}{_attributes(widget["attrs"])}>'


def _select(widget: Mapping[str, Any]) -> str:
    name = conditional_escape(widget["name"])
    groups = "".join(_select_group(*group) for group in widget["optgroups"])
    return f'<select name="{name}"{_attributes(widget["attrs"])}>{groups}\n</select>'


def _select_group(name: str | None, options: list[dict[str, Any]], _index: int) -> str:
    lines = "".join(
        f'\n  <option value="{conditional_escape(option["value"])}"'
        f"{_attributes(option['attrs'])}>{conditional_escape(option['label'])}</option>"
        for option in options
    )
    if not name:
        return lines
    label = conditional_escape(name)
    return f'\n  <optgroup label="{label}">{lines}\n  </optgroup>'


def _choices(widget: Mapping[str, Any]) -> str:
    attrs = widget["attrs"]
    own = {name: attrs[name] for name in ("id", "class") if attrs.get(name)}
    groups = "".join(_choice_group(*group) for group in widget["optgroups"])
    return f"<div{_attributes(own)}>{groups}\n</div>"


def _choice_group(name: str | None, options: list[dict[str, Any]], _index: int) -> str:
    lines = "".join(f"<div>\n    {_choice(option)}</div>" for option in options)
    if not name:
        return lines
    return f"\n  <div><label>{conditional_escape(name)}</label>{lines}\n  </div>"


def _choice(option: Mapping[str, Any]) -> str:
    own = option["attrs"].get("id")
    target = f' for="{conditional_escape(own)}"' if own else ""
    label = conditional_escape(option["label"])
    return f"<label{target}>{_input(option)} {label}</label>"


def _attributes(attrs: Mapping[str, Any]) -> str:
    return "".join(_attribute(*each) for each in attrs.items() if each[1] is not False)


def _attribute(name: str, value: Any) -> str:
    if value is True:
        return f" {conditional_escape(name)}"
    return f' {conditional_escape(name)}="{conditional_escape(value)}"'


_WRITERS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    **{f"{_FOLDER}/{kind}.html": _input for kind in INPUTS},
    f"{_FOLDER}/select.html": _select,
    f"{_FOLDER}/radio.html": _choices,
    f"{_FOLDER}/checkbox_select.html": _choices,
}
