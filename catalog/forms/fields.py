import re
from collections.abc import Iterable
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

import formats

FIGURE = re.compile(r"(\d{1,15})(?:[.,](\d{1,6}))?", re.ASCII)


class DatalistInput(forms.TextInput):
    """
    A text input that proposes its options while one types.
    """

    template_name = "catalog/widgets/datalist.html"

    def __init__(self, options: Iterable[str] = ()) -> None:
        super().__init__(attrs={"autocomplete": "off", "spellcheck": "false"})
        self.options = options

    def get_context(self, name: str, value: Any, attrs: Any) -> dict[str, Any]:
        context = super().get_context(name, value, attrs)
        list_id = f"{context['widget']['attrs'].get('id', name)}_options"
        context["widget"]["attrs"]["list"] = list_id
        return {**context, "list_id": list_id, "options": self.options}


class CountField(forms.IntegerField):
    """
    A whole number with its unit, written without thousands separators.
    """

    def __init__(self, *, unit: str | Promise = "", **options: Any) -> None:
        super().__init__(
            error_messages={
                "invalid": _("Write a whole number, with digits only."),
                "required": _("Write a number here."),
            },
            widget=forms.TextInput(attrs={"inputmode": "numeric"}),
            **options,
        )
        self.unit = unit


class FigureField(forms.CharField):
    """
    A number that need not be whole, as people type it: either mark is the decimal mark.
    """

    default_error_messages = {
        "not_a_figure": _("Write a number like 0.5 or 0,5, without other marks."),
        "too_small": _("Write a number above %(least)s."),
        "too_large": _("Write %(most)s at most."),
    }

    def __init__(
        self,
        *,
        unit: str | Promise = "",
        above: int | None = None,
        most: int,
        **options: Any,
    ) -> None:
        options.setdefault("error_messages", {}).setdefault(
            "required", _("Write a number here.")
        )
        super().__init__(
            widget=forms.TextInput(
                attrs={"inputmode": "decimal", "autocomplete": "off"}
            ),
            **options,
        )
        self.unit, self.above, self.most = unit, above, most

    def clean(self, value: Any) -> Any:
        """
        Return the number as a Decimal, or None where nothing was typed.
        """
        text = super().clean(value)
        if not text:
            return None
        if not (found := FIGURE.fullmatch(text)):
            raise self._error("not_a_figure")
        figure = Decimal(f"{found[1]}.{found[2] or 0}")
        if self.above is not None and figure <= self.above:
            raise self._error("too_small")
        if figure > self.most:
            raise self._error("too_large")
        return figure

    def _error(self, code: str) -> forms.ValidationError:
        language = formats.language()
        values = {
            "least": formats.number(self.above or 0, language),
            "most": formats.number(self.most, language),
        }
        return forms.ValidationError(
            self.error_messages[code], code=code, params=values
        )
