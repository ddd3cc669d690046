import re
from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

from django import forms
from django.conf import settings
from django.utils.functional import Promise
from django.utils.translation import get_language
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

import clock
import formats
from catalog import services
from catalog.models import BaseModel, GpuModel, Method, Offer

RATE = re.compile(r"(\d{1,7})(?:[.,](\d{1,6}))?", re.ASCII)


class RateField(forms.CharField):
    """
    A price per hour as people type it: either mark is the decimal mark.
    """

    default_error_messages = {
        "not_a_rate": _("Write the price like 0.33 or 0,33, with at most 6 decimals."),
    }

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.widget.attrs.update({"inputmode": "decimal", "autocomplete": "off"})

    def clean(self, value: Any) -> Any:
        """
        Return the price as a Decimal, or None where nothing was typed.
        """
        text = super().clean(value)
        if not text:
            return None
        if not (found := RATE.fullmatch(text)):
            raise forms.ValidationError(
                self.error_messages["not_a_rate"], code="not_a_rate"
            )
        return Decimal(f"{found[1]}.{found[2] or 0}")


class OfferForm(forms.ModelForm):
    """
    An offer with, if staff want one, the next version of its price.
    """

    new_price = RateField(
        label=_("New price"),
        required=False,
        help_text=_(
            "For one GPU and hour, ex tax. It is added as a new version: the history"
            " keeps the old one, and running rentals keep theirs."
        ),
    )
    currency = forms.ChoiceField(
        label=_("Currency"), choices=settings.CURRENCY_CHOICES, required=False
    )
    valid_from = forms.SplitDateTimeField(
        label=_("Valid from"), required=False, help_text=_("Empty: at once.")
    )
    is_confirmed = forms.BooleanField(
        label=_("Yes, this price is meant"),
        required=False,
        help_text=_(
            "Only asked for when a price is far from what the GPU costs elsewhere."
        ),
    )
    reason = forms.CharField(label=_("Reason"), required=False, max_length=200)

    class Meta:
        model = Offer
        fields = [
            "supplier",
            "gpu",
            "region",
            "gpus_per_node",
            "nodes",
            "available_until",
            "is_listed",
        ]

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.at = clock.now()

    def clean(self) -> dict[str, Any]:
        """
        Refuse a price that the offer could not take.
        """
        data = super().clean() or {}
        gpu = self.instance.gpu if self.instance.pk else data.get("gpu")
        if data.get("new_price") is None or not isinstance(gpu, GpuModel):
            return data
        if self.errors:
            return data
        try:
            services.check_price(gpu_id=gpu.pk, at=self.at, **self.price())
        except services.PriceRefused as refusal:
            self.add_error("new_price", str(refusal))
        return data

    def price(self) -> dict[str, Any]:
        """
        Return the new price as the arguments of `services.set_price`.
        """
        data = self.cleaned_data
        valid_from: datetime = data.get("valid_from") or self.at
        return {
            "hourly_price": Money(data["new_price"], data.get("currency") or "USD"),
            "valid_from": valid_from,
            "reason": data.get("reason", ""),
            "is_confirmed": data.get("is_confirmed", False),
        }


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
