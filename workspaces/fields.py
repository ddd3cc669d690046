"""
The kinds of fields that the request form is made of.
"""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.functional import Promise
from django.utils.translation import get_language

import formats
from catalog.models import GpuModel
from money import AmountNotUnderstood, parse_amount

DATETIME_LOCAL = "%Y-%m-%dT%H:%M"


class CountField(forms.IntegerField):
    """
    A whole number within limits, shown with its unit.
    """

    def __init__(self, *, unit: str | Promise = "", **options: Any) -> None:
        super().__init__(**options)
        self.unit = unit


class PriceField(forms.CharField):
    """
    A price as people write it: point or comma, no thousands separators.
    """

    def __init__(self, **options: Any) -> None:
        widget = forms.TextInput(attrs={"inputmode": "decimal", "class": "amount"})
        super().__init__(widget=widget, **options)

    def to_python(self, value: Any) -> Any:
        text = super().to_python(value)
        if not text:
            return None
        try:
            return parse_amount(text)
        except AmountNotUnderstood as error:
            raise ValidationError(str(error.message), code="invalid") from error

    def prepare_value(self, value: Any) -> Any:
        return f"{value:.2f}" if isinstance(value, Decimal) else value


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
