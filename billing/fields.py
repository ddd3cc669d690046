"""
Form fields for money.
"""

from decimal import Decimal
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _

from money import AmountNotUnderstood, parse_amount


class AmountField(forms.Field):
    """
    An amount as people type it: `12.50` and `12,50` are the same in every language.

    What was typed stays in the field when it is not understood.
    """

    widget = forms.TextInput

    def __init__(self, **options: Any) -> None:
        options.setdefault("help_text", _("For example 12.50 or 12,50."))
        super().__init__(**options)

    def widget_attrs(self, widget: forms.Widget) -> dict[str, Any]:
        return {
            **super().widget_attrs(widget),
            "inputmode": "decimal",
            "autocomplete": "off",
            "maxlength": 20,
        }

    def to_python(self, value: Any) -> Decimal | None:
        if value in self.empty_values:
            return None
        try:
            return parse_amount(str(value))
        except AmountNotUnderstood as error:
            raise ValidationError(str(error), code="invalid") from error
