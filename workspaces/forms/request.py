"""
The request form: every field of a request, checked alone and then together.
"""

from collections.abc import Iterable
from dataclasses import fields
from datetime import datetime
from typing import Any

from django import forms
from django.http import QueryDict
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

import formats
from billing.fields import AmountField
from billing.services import WalletBalance
from catalog.models import BaseModel, GpuModel, Image, Method, Region, StoragePlan
from money import round_half_up
from workspaces.fields import (
    BaseModelSelect,
    CountField,
    GpuField,
    MomentField,
    RegionsField,
    StoragePlanField,
    with_commits,
)
from workspaces.forms.columns import Columns, Group, columns_of
from workspaces.forms.fit import FitForm
from workspaces.models import Draft, KeptAtEnd, Quote
from workspaces.models.specification import (
    MAX_GPUS,
    MAX_HOURS,
    MAX_STORAGE_GB,
    LossKernel,
    Optimizer,
)
from workspaces.services import WantedWorkspace
from workspaces.services.fit import Job
from workspaces.together import faults

# How the planner's links name what the form calls otherwise.
PLANNER_NAMES = {"model": "base_model", "region": "regions", "loss": "loss_kernel"}

COLUMNS: Columns = [
    [
        (
            gettext_lazy("What you train"),
            [
                ["base_model"],
                ["revision"],
                ["method"],
                ["sequence_length", "micro_batch"],
                ["lora_rank", "is_checkpointing"],
                ["loss_kernel", "optimizer"],
                ["image"],
                ["dataset_note"],
            ],
        ),
    ],
    [
        (
            gettext_lazy("Where it runs"),
            [["gpu", "gpus"], ["is_fit_risk_accepted"], ["regions", "hours"]],
        ),
        (
            gettext_lazy("What is kept"),
            [
                ["storage_plan", "storage_gb"],
                ["checkpoint_minutes", "checkpoints_kept"],
                ["kept_days", "kept_at_end"],
            ],
        ),
        (
            gettext_lazy("What you pay"),
            [["currency", "wanted_limit"], ["start_deadline"], ["is_start_retried"]],
        ),
    ],
]


FIT_FIELDS = [field.name for field in fields(Job)]


class RequestForm(FitForm):
    base_model = forms.ModelChoiceField(
        BaseModel.objects.filter(is_listed=True).order_by("family", "total_params_b"),
        label=gettext_lazy("Base model"),
        empty_label=gettext_lazy("Choose a model"),
        to_field_name="slug",
        widget=BaseModelSelect,
    )
    revision = forms.CharField(
        label=gettext_lazy("Pinned revision"),
        max_length=100,
        help_text=gettext_lazy(
            "The commit hash (40 characters) or a tag of the model's repository. A"
            " branch such as main can change during your run; a pinned revision makes"
            " the run repeatable."
        ),
    )
    method = forms.ChoiceField(
        label=gettext_lazy("Method"),
        choices=Method.choices,
        initial=Method.QLORA,
        widget=forms.RadioSelect(attrs={"class": "segments"}),
    )
    sequence_length = CountField(
        label=gettext_lazy("Sequence length"),
        unit=gettext_lazy("tokens"),
        initial=2048,
        min_value=1,
        max_value=4_194_304,
    )
    micro_batch = CountField(
        label=gettext_lazy("Micro-batch"),
        unit=gettext_lazy("sequences"),
        initial=1,
        min_value=1,
        max_value=1024,
        help_text=gettext_lazy("Sequences that one GPU works on at once."),
    )
    lora_rank = CountField(
        label=gettext_lazy("LoRA rank"),
        required=False,
        initial=16,
        min_value=1,
        max_value=4096,
        help_text=gettext_lazy("For LoRA and QLoRA; full fine-tuning has none."),
    )
    is_checkpointing = forms.BooleanField(
        label=gettext_lazy("Gradient checkpointing"),
        required=False,
        initial=True,
        help_text=gettext_lazy("Less memory for a slower step."),
    )
    loss_kernel = forms.ChoiceField(
        label=gettext_lazy("Loss"),
        choices=LossKernel.choices,
        initial=LossKernel.PLAIN,
        help_text=gettext_lazy(
            "What your script uses. Fused never holds the logits, often the largest"
            " part of a run."
        ),
    )
    optimizer = forms.ChoiceField(
        label=gettext_lazy("Optimizer"),
        choices=Optimizer.choices,
        initial=Optimizer.ADAMW,
        help_text=gettext_lazy(
            "What your script uses; it matters when all is trained."
        ),
    )
    image = forms.ModelChoiceField(
        Image.objects.filter(is_listed=True).order_by("position", "pk"),
        label=gettext_lazy("Image"),
        empty_label=None,
        to_field_name="slug",
    )
    dataset_note = forms.CharField(
        label=gettext_lazy("Dataset note"),
        required=False,
        max_length=500,
        widget=forms.Textarea(attrs={"rows": 3}),
        help_text=gettext_lazy("For yourself: which data, which version, where from."),
    )
    gpu = GpuField(
        GpuModel.objects.order_by("memory_gb", "label"),
        label=gettext_lazy("GPU"),
        empty_label=gettext_lazy("Choose a GPU"),
        to_field_name="slug",
    )
    gpus = CountField(
        label=gettext_lazy("Number of GPUs"),
        initial=1,
        min_value=1,
        max_value=MAX_GPUS,
        help_text=gettext_lazy("All on one node: all of them or none."),
    )
    regions = RegionsField(
        Region.objects.order_by("name"),
        label=gettext_lazy("Regions"),
        to_field_name="slug",
        widget=forms.CheckboxSelectMultiple,
        error_messages={"required": gettext_lazy("Choose one region or more.")},
        help_text=gettext_lazy("More regions, more offers: the cheapest one is taken."),
    )
    hours = CountField(
        label=gettext_lazy("Hours"),
        unit=gettext_lazy("h"),
        initial=8,
        min_value=1,
        max_value=MAX_HOURS,
        help_text=gettext_lazy("You can stop at any time; unused hours come back."),
    )
    is_fit_risk_accepted = forms.BooleanField(
        label=gettext_lazy("I know that the estimate says it does not fit"),
        required=False,
    )
    storage_plan = StoragePlanField(
        StoragePlan.objects.filter(is_listed=True).order_by("position", "pk"),
        label=gettext_lazy("Storage plan"),
        empty_label=None,
        to_field_name="slug",
    )
    storage_gb = CountField(
        label=gettext_lazy("Storage"),
        unit=gettext_lazy("GB"),
        initial=200,
        min_value=1,
        max_value=MAX_STORAGE_GB,
    )
    kept_days = CountField(
        label=gettext_lazy("Keep data after the end"),
        unit=gettext_lazy("days"),
        initial=7,
        min_value=0,
        max_value=365,
        help_text=gettext_lazy(
            "Paid in advance from the same hold. 0 deletes the data at the end."
        ),
    )
    checkpoint_minutes = CountField(
        label=gettext_lazy("A checkpoint every"),
        unit=gettext_lazy("min"),
        initial=30,
        min_value=1,
        max_value=MAX_HOURS * 60,
    )
    checkpoints_kept = CountField(
        label=gettext_lazy("Checkpoints kept"), initial=3, min_value=1, max_value=1000
    )
    kept_at_end = forms.ChoiceField(
        label=gettext_lazy("Keep at the end"), choices=KeptAtEnd.choices
    )
    currency = forms.ChoiceField(label=gettext_lazy("Pay from"))
    wanted_limit = AmountField(
        label=gettext_lazy("Price limit per GPU-hour"),
        required=False,
        help_text=gettext_lazy(
            "Empty: the best ask at this moment. You pay what the supplier asks, never"
            " more than this."
        ),
    )
    start_deadline = MomentField(
        label=gettext_lazy("Start no later than"),
        required=False,
        help_text=gettext_lazy(
            "If no node was found by then, the request ends and the whole hold comes"
            " back. Empty: it waits until you cancel it."
        ),
    )

    is_start_retried = forms.BooleanField(
        label=gettext_lazy("If a start fails, try the next offer by itself"),
        required=False,
        help_text=gettext_lazy(
            "With the same limit and the same place in the queue. Otherwise the request"
            " ends and the whole hold comes back."
        ),
    )

    def __init__(
        self,
        data: QueryDict | None = None,
        *,
        initial: dict[str, Any],
        wallets: Iterable[WalletBalance],
        at: datetime,
    ) -> None:
        super().__init__(data, initial=initial)
        for field in self.fields.values():
            if isinstance(field, forms.ModelChoiceField):
                # Read once: a list without an empty choice is asked for its first, too.
                choices: Any = field.choices
                field.choices = list(choices)
        self.at = at
        revision = self.fields["revision"]
        revision.help_text = with_commits(revision.help_text, of=self["base_model"])
        currency: Any = self.fields["currency"]
        currency.choices = [(wallet.currency, _label(wallet)) for wallet in wallets]

    def columns(self) -> list[list[Group]]:
        """
        Return the fields as they are drawn, without those that are not asked yet.
        """
        not_asked = set() if self.is_fit_risky else {"is_fit_risk_accepted"}
        return columns_of(self, COLUMNS, without=not_asked)

    def clean(self) -> dict[str, Any]:
        values = self.cleaned_data
        for name, message in faults(values, at=self.at):
            self.add_error(name, message)
        if not any(name in self.errors for name in FIT_FIELDS):
            self.check_fit(Job(**{name: values[name] for name in FIT_FIELDS}))
        return values

    def wanted(self) -> WantedWorkspace:
        """
        Return the request as it was written.
        """
        values = {**self.cleaned_data}
        del values["is_fit_risk_accepted"]
        values["regions"] = sorted(region.slug for region in values["regions"])
        if values["method"] == Method.FULL:
            values["lora_rank"] = None
        return WantedWorkspace(**values)


def initial_from_query(query: QueryDict) -> dict[str, Any]:
    """
    Return what a link to the form has filled in, such as the planner's.
    """
    initial: dict[str, Any] = {}
    for name in query:
        field = PLANNER_NAMES.get(name, name)
        if field == "regions":
            initial[field] = query.getlist(name)
        elif field in RequestForm.base_fields:
            initial[field] = query[name]
    return initial


def initial_from_draft(draft: Draft) -> dict[str, Any]:
    """
    Return what was typed when a draft was put aside, faults and all.
    """
    initial: dict[str, Any] = {}
    for name, field in RequestForm.base_fields.items():
        texts = draft.typed.get(name, [])
        if isinstance(field, forms.BooleanField):
            initial[name] = bool(texts)
        elif name == "regions":
            initial[name] = texts
        elif texts:
            initial[name] = texts[0]
    return initial


def typed_in(data: QueryDict) -> dict[str, list[str]]:
    """
    Return what was typed into the fields of the request form.
    """
    return {
        name: data.getlist(name) for name in RequestForm.base_fields if name in data
    }


def initial_from_quote(quote: Quote) -> dict[str, Any]:
    """
    Return what an earlier quote was asked for.
    """
    initial: dict[str, Any] = {
        name: getattr(quote, name)
        for name in RequestForm.base_fields
        if hasattr(quote, name)
    }
    for name in ("base_model", "image", "gpu", "storage_plan"):
        initial[name] = getattr(quote, name).slug
    if quote.wanted_limit is not None:
        # Typed with two decimals, kept with six.
        initial["wanted_limit"] = round_half_up(quote.wanted_limit)
    return initial


def _label(wallet: WalletBalance) -> str:
    language = formats.language()
    return _("%(currency)s wallet, %(available)s free") % {
        "currency": wallet.currency,
        "available": formats.money(wallet.available, language),
    }
