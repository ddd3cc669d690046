"""
The calculator's state, which is its address: the form is sent by GET.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

import formats
from catalog.forms.fields import CountField
from catalog.inference import Precision
from catalog.models import BaseModel
from catalog.serving import COMPRESSED_FAMILIES, WantedServing


def served_models() -> QuerySet[BaseModel]:
    """
    Return the models that the calculator knows how to serve.
    """
    listed = BaseModel.objects.filter(is_listed=True)
    served = listed.exclude(family__in=COMPRESSED_FAMILIES)
    return served.order_by("family", "total_params_b")


class ServingForm(forms.Form):
    """
    What is to be served; what a link leaves out has a sensible value.
    """

    DEFAULTS = {
        "model": "meta-llama-3-1-8b",
        "precision": Precision.SIXTEEN.value,
        "cache": "16",
        "context": "8192",
        "requests": "8",
    }

    model = forms.ChoiceField(label=_("Model"))
    precision = forms.ChoiceField(
        label=_("Weights"),
        choices=[
            (Precision.SIXTEEN.value, _("16 bit")),
            (Precision.EIGHT.value, _("8 bit")),
            (Precision.FOUR.value, _("4 bit")),
        ],
        widget=forms.RadioSelect(attrs={"class": "segments"}),
    )
    cache = forms.ChoiceField(
        label=_("KV cache"),
        choices=[("16", _("16 bit")), ("8", _("8 bit"))],
        widget=forms.RadioSelect(attrs={"class": "segments"}),
    )
    context = CountField(
        label=_("Context of a request"),
        unit=_("tokens"),
        min_value=1,
        max_value=1_048_576,
        help_text=_("Prompt and answer together."),
    )
    requests = CountField(label=_("Requests at once"), min_value=1, max_value=10_000)

    def __init__(
        self, query: Mapping[str, Any], *, models: Iterable[BaseModel]
    ) -> None:
        known = {name: query[name] for name in self.DEFAULTS if name in query}
        super().__init__({**self.DEFAULTS, **known})
        self.models = {model.slug: model for model in models}
        choices = [(model.slug, model.name) for model in self.models.values()]
        self.fields["model"].choices = choices  # type: ignore[attr-defined]

    def clean_model(self) -> BaseModel:
        return self.models[self.cleaned_data["model"]]

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        model, context = data.get("model"), data.get("context")
        longest = model.max_position_embeddings if model else None
        if context and longest and context > longest:
            text = _("%(model)s reads %(longest)s tokens at most.")
            shown = formats.number(longest, formats.language())
            self.add_error("context", text % {"model": model, "longest": shown})
        return data

    def wanted(self) -> WantedServing:
        """
        Return what a valid form asks for.
        """
        data = self.cleaned_data
        return WantedServing(
            model=data["model"],
            precision=Precision(data["precision"]),
            cache_bits=int(data["cache"]),
            context=data["context"],
            requests=data["requests"],
        )
