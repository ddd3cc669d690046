"""
The kinds of fields that the request form is made of.
"""

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext as _

import formats
from catalog.models import BaseModel, GpuModel, Region, StoragePlan
from catalog.names import plan_name, region_name

DATETIME_LOCAL = "%Y-%m-%dT%H:%M"


class CountField(forms.IntegerField):
    """
    A whole number within limits, shown with its unit.
    """

    def __init__(self, *, unit: str | Promise = "", **options: Any) -> None:
        super().__init__(**options)
        self.unit = unit


class MomentField(forms.DateTimeField):
    """
    A moment in the time zone of the reader, to the minute.
    """

    def __init__(self, **options: Any) -> None:
        widget = forms.DateTimeInput(
            attrs={"type": "datetime-local"}, format=DATETIME_LOCAL
        )
        super().__init__(
            widget=widget, input_formats=[DATETIME_LOCAL, "%Y-%m-%d %H:%M"], **options
        )


class BaseModelSelect(forms.Select):
    """
    A list of models whose entries say in which repository each of them is.
    """

    def create_option(
        self, name: str, value: Any, *args: Any, **options: Any
    ) -> dict[str, Any]:
        option = super().create_option(name, value, *args, **options)
        if model := getattr(value, "instance", None):
            option["attrs"]["data-repository"] = model.hf_id
        return option


def with_commits(hint: str | Promise, *, of: forms.BoundField) -> SafeString:
    """
    Add to a hint where the commits of the chosen model are; hidden until there is one.

    site.js turns the link to another model when that is chosen.
    """
    try:
        model = of.field.to_python(of.value())
    except ValidationError:
        model = None
    return format_html("{} {}", hint, _commits_link(model))


def _commits_link(model: BaseModel | None) -> SafeString:
    repository = model.hf_id if model else ""
    text = _("Find the hash among the commits of %(repository)s.")
    return format_html(
        '<a id="commits" href="https://huggingface.co/{}/commits/main"'
        ' target="_blank" rel="noopener"{}>{}</a>',
        repository,
        "" if model else SafeString(" hidden"),
        format_html(
            text.replace("%(repository)s", "{}"),
            format_html("<span>{}</span>", repository),
        ),
    )


class GpuField(forms.ModelChoiceField):
    """
    One GPU of the catalog, named with its memory.
    """

    def label_from_instance(self, obj: GpuModel) -> str:
        language = formats.language()
        return f"{obj.label}, {formats.gigabytes(obj.memory_gb, language)}"


class RegionsField(forms.ModelMultipleChoiceField):
    """
    Regions of the catalog, named in the reader's language.
    """

    def label_from_instance(self, obj: Region) -> str:
        return region_name(obj)


class StoragePlanField(forms.ModelChoiceField):
    """
    One storage plan of the catalog, named in the reader's language.
    """

    def label_from_instance(self, obj: StoragePlan) -> str:
        return plan_name(obj)
