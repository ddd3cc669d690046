"""
The kinds of fields that the request form is made of.
"""

from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import get_language

import formats
from catalog.models import GpuModel, Region, StoragePlan
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


class GpuField(forms.ModelChoiceField):
    """
    One GPU of the catalog, named with its memory.
    """

    def label_from_instance(self, obj: GpuModel) -> str:
        language = get_language() or "en"
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
