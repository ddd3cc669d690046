from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


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
