from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from django import forms
from django.conf import settings
from django.utils.translation import gettext_lazy as _

from catalog.costs import tokens_per_second
from catalog.forms.fields import CountField, FigureField
from catalog.models import GpuModel
from workspaces.fields import GpuField
from workspaces.models.specification import MAX_GPUS, MAX_STORAGE_GB
from workspaces.pilots import WantedPilot

MILLION = 1_000_000


class PilotForm(forms.Form):
    """
    The pilot calculator's state, which is its address: the form is sent by GET.
    """

    DEFAULTS = {
        "tokens_per_second": "2400",
        "seconds_per_step": "",
        "tokens_per_step": "",
        "dataset_mtokens": "20",
        "epochs": "3",
        "evaluation_hours": "1",
        "failed_percent": "20",
        "gpu": "rtx-4090",
        "gpus": "1",
        "storage_gb": "200",
        "kept_days": "7",
    }

    tokens_per_second = FigureField(
        label=_("Measured speed"),
        unit=_("tokens/s"),
        above=0,
        most=10**9,
        required=False,
        help_text=_("Of all GPUs together, padding left out."),
    )
    seconds_per_step = FigureField(
        label=_("Or time of a step"), unit="s", above=0, most=10**6, required=False
    )
    tokens_per_step = CountField(
        label=_("Tokens a step"), min_value=1, max_value=10**12, required=False
    )
    dataset_mtokens = FigureField(
        label=_("Dataset"), unit=_("million tokens"), above=0, most=10**9
    )
    epochs = FigureField(label=_("Epochs"), above=0, most=1000)
    evaluation_hours = FigureField(
        label=_("Evaluation"), unit="h", most=10_000, help_text=_("For each run.")
    )
    failed_percent = FigureField(
        label=_("Runs that fail"),
        unit="%",
        most=95,
        help_text=_("50 is every other."),
    )
    gpu = GpuField(
        GpuModel.objects.order_by("memory_gb", "label"),
        label=_("GPU"),
        empty_label=None,
        to_field_name="slug",
    )
    gpus = CountField(label=_("GPUs"), min_value=1, max_value=MAX_GPUS)
    storage_gb = CountField(
        label=_("Storage"), unit="GB", min_value=0, max_value=MAX_STORAGE_GB
    )
    kept_days = CountField(
        label=_("Kept after the end"), unit=_("days"), min_value=0, max_value=365
    )
    currency = forms.ChoiceField(label=_("Currency"), choices=settings.CURRENCY_CHOICES)

    def __init__(self, query: Mapping[str, Any], *, currency: str) -> None:
        defaults = {**self.DEFAULTS, "currency": currency}
        if query.get("seconds_per_step"):
            defaults["tokens_per_second"] = ""
        known = {name: query[name] for name in defaults if name in query}
        super().__init__({**defaults, **known})

    def clean(self) -> dict[str, Any]:
        """
        Take the speed from one of its two forms.
        """
        data = super().clean() or {}
        speed, seconds = data.get("tokens_per_second"), data.get("seconds_per_step")
        if self.errors:
            return data
        if bool(speed) == bool(seconds):
            self.add_error(
                "tokens_per_second",
                _("Write either tokens a second or the time of a step."),
            )
        elif seconds and not data.get("tokens_per_step"):
            self.add_error("tokens_per_step", _("How many tokens has a step?"))
        return data

    def wanted(self) -> WantedPilot:
        """
        Return what was measured and what is to be run.
        """
        data = self.cleaned_data
        speed: Decimal = data["tokens_per_second"] or tokens_per_second(
            seconds_per_step=data["seconds_per_step"],
            tokens_per_step=data["tokens_per_step"],
        )
        return WantedPilot(
            tokens_per_second=speed,
            dataset_tokens=int(data["dataset_mtokens"] * MILLION),
            epochs=data["epochs"],
            evaluation_hours=data["evaluation_hours"],
            failed_share=data["failed_percent"] / 100,
            gpu=data["gpu"],
            gpus=data["gpus"],
            storage_gb=data["storage_gb"],
            kept_days=data["kept_days"],
            currency=data["currency"],
        )
