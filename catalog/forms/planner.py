from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from django import forms
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _

import formats
from catalog.forms.fields import CountField, DatalistInput
from catalog.models import BaseModel, Method


class PlannerForm(forms.Form):
    """
    The planner's state, which is its address: the form is sent by GET.
    """

    DEFAULTS = {
        "model": "meta-llama-3-1-8b",
        "method": Method.QLORA.value,
        "sequence_length": "2048",
        "micro_batch": "1",
        "hours": "40",
        "storage_gb": "200",
    }

    model = forms.CharField(
        label=_("Base model"),
        max_length=100,
        error_messages={"required": _("Name a model, for example Llama 3.1 8B.")},
    )
    method = forms.ChoiceField(
        label=_("Method"),
        choices=[
            (Method.QLORA, "QLoRA"),
            (Method.LORA, "LoRA"),
            (Method.FULL, _("Full")),
        ],
        widget=forms.RadioSelect(attrs={"class": "segments"}),
    )
    sequence_length = CountField(
        label=_("Sequence length"), unit=_("tokens"), min_value=1, max_value=1_048_576
    )
    micro_batch = CountField(
        label=_("Micro-batch"),
        min_value=1,
        max_value=1024,
        help_text=_("Sequences at once."),
    )
    hours = CountField(label=_("Hours"), unit="h", min_value=1, max_value=2160)
    storage_gb = CountField(
        label=_("Storage"), unit="GB", min_value=0, max_value=20_000
    )

    def __init__(self, query: Any, *, models: Iterable[BaseModel]) -> None:
        self.models = list(models)
        known = {name: query[name] for name in self.DEFAULTS if name in query}
        data = {**self.DEFAULTS, **known}
        # What came as a slug in a link is shown by its name.
        chosen = self._find(data["model"])
        if chosen:
            data["model"] = chosen.name
        super().__init__(data)
        self.fields["model"].widget = DatalistInput(
            [model.name for model in self.models]
        )

    def state(self) -> dict[str, Any]:
        """
        Return the valid state as the query of a link, the model by its slug.
        """
        return {**self.cleaned_data, "model": self.cleaned_data["model"].slug}

    def _find(self, text: str) -> BaseModel | None:
        wanted = " ".join(text.split()).casefold()
        for model in self.models:
            names = (model.name, model.slug, model.hf_id)
            if wanted in {name.casefold() for name in names}:
                return model
        return None

    def clean_model(self) -> BaseModel:
        """
        Return the model of this name, slug or Hugging Face id.
        """
        text = self.cleaned_data["model"]
        if model := self._find(text):
            return model
        names = {model.name.casefold(): model.name for model in self.models}
        near = get_close_matches(text.casefold(), names, n=3, cutoff=0.5)
        near = near or [name for name in names if text.casefold() in name][:3]
        if not near:
            raise forms.ValidationError(
                _("No model of this name is known. Choose one from the list.")
            )
        raise forms.ValidationError(
            _("No model of this name is known. Did you mean %(names)s?"),
            params={"names": ", ".join(names[name] for name in near)},
        )

    def clean(self) -> dict[str, Any]:
        """
        Refuse a sequence that the model cannot read.
        """
        data = super().clean() or {}
        model, length = data.get("model"), data.get("sequence_length")
        longest = model.max_position_embeddings if model else None
        if longest and length and length > longest:
            message = _("%(model)s reads %(longest)s tokens at most.")
            written = formats.number(longest, get_language() or "en")
            values = {"model": model, "longest": written}
            self.add_error(
                "sequence_length", forms.ValidationError(message, params=values)
            )
        return data
