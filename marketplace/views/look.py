"""
The look page: every component of the site in every state, for whoever builds pages.

Its figures are those of one fine-tune, worked out in MEMORY.md; nothing is read from
the database.
"""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from django import forms
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe
from djmoney.money import Money

from access import staff_only
from money import AmountNotUnderstood, parse_amount
from workspaces.models import State

METHODS = [("qlora", "QLoRA"), ("lora", "LoRA"), ("full", _("Full"))]
MEMORY_PARTS = [
    {"label": _("Base model"), "value": Decimal("7.3")},
    {"label": _("Adapters and optimizer"), "value": Decimal("0.6")},
    {"label": _("Activations"), "value": Decimal("4.0")},
    {"label": _("Loss"), "value": Decimal("14.5")},
    {"label": _("CUDA context"), "value": Decimal("1.1")},
]
MEMORY_NEEDED = Decimal("27.5")
OPENING = datetime(2026, 11, 30, 10, tzinfo=UTC)


class LookForm(forms.Form):
    """
    One field of each kind.
    """

    name = forms.CharField(label=_("Name"), help_text=_("As it should appear."))
    method = forms.ChoiceField(
        label=_("Method"),
        choices=METHODS,
        initial="qlora",
        widget=forms.RadioSelect(attrs={"class": "segments"}),
        help_text=_("4-bit base model, small adapters in 16 bits"),
    )
    amount = forms.CharField(
        label=_("Amount"),
        widget=forms.TextInput(attrs={"inputmode": "decimal", "class": "amount"}),
        help_text=_("For example 12.50"),
    )
    hours = forms.IntegerField(label=_("Hours"), min_value=1, max_value=720)
    region = forms.ChoiceField(
        label=_("Region"),
        choices=[("", _("Any region")), ("paris", "Paris"), ("frankfurt", "Frankfurt")],
        required=False,
    )
    keep = forms.ChoiceField(
        label=_("Keep at the end"),
        choices=[("best", _("The best checkpoint")), ("all", _("All checkpoints"))],
        initial="best",
        widget=forms.RadioSelect,
    )
    note = forms.CharField(
        label=_("Dataset note"), widget=forms.Textarea, required=False
    )
    terms = forms.BooleanField(label=_("Keep my data for 7 days after the end"))

    def clean_amount(self) -> Decimal:
        try:
            return parse_amount(self.cleaned_data["amount"])
        except AmountNotUnderstood as error:
            raise forms.ValidationError(str(error)) from None


@require_safe
@staff_only
def look(request: HttpRequest) -> HttpResponse:
    wrong = {"amount": "1.008,50", "hours": "0", "method": "lora", "keep": "all"}
    context = {
        "form": LookForm(auto_id="good_%s"),
        "wrong_form": LookForm(wrong, auto_id="wrong_%s"),
        **_figures(),
        **_tables(),
        **_ways(),
    }
    return render(request, "staff/look.html", context)


def _figures() -> dict[str, Any]:
    lines = [
        {"label": "RTX A6000 × 1", "amount": _usd("16.00"), "note": "40 h × $0.40"},
        {"label": _("Storage, 200 GB"), "amount": _usd("0.99")},
    ]
    return {
        "parts": MEMORY_PARTS,
        "needed": MEMORY_NEEDED,
        "bars": [
            {"gpu": "RTX A6000", "total": 48, "upto": Decimal("33.0")},
            {"gpu": "RTX 5090", "total": 32, "upto": Decimal("33.0")},
            {"gpu": "RTX 4090", "total": 24, "upto": None},
        ],
        "rate": _usd("0.33"),
        "small_rate": _usd("0.0375"),
        "as_of": OPENING,
        "receipt": lines,
        "receipt_total": _usd("16.99"),
        "pairs": [
            {"name": _("Memory"), "value": "48 GB GDDR6"},
            {"name": _("Architecture"), "value": "Ampere"},
            {
                "name": _("Form factor"),
                "value": "PCIe",
                "note": _("two slots, passive"),
            },
        ],
        "events": _events(),
    }


def _events() -> list[dict[str, Any]]:
    note = _("40 h at up to $0.40, with storage")
    return [
        {"at": OPENING - timedelta(days=2), "title": _("Funded"), "note": note},
        {"at": OPENING, "title": _("Market opened")},
        {"at": OPENING + timedelta(minutes=2), "title": _("Failed"), "is_bad": True},
        {"at": OPENING + timedelta(minutes=17), "title": _("Ready, the clock starts")},
        {"at": OPENING + timedelta(hours=40), "title": _("Ends"), "is_next": True},
    ]


def _tables() -> dict[str, Any]:
    heads = [
        {"label": _("UTC hour"), "sort_url": "?sort=-hour", "sort": "ascending"},
        {"label": _("What"), "sort_url": "?sort=what"},
        {"label": _("Seconds"), "is_number": True},
        {"label": _("Rate"), "is_number": True},
        {"label": _("Charged"), "is_number": True},
    ]
    return {
        "heads": heads,
        "rows": [
            ["30 Nov 17:00", "GPU", "3,600", "$0.33", "$0.33"],
            ["30 Nov 17:00", _("Storage, 200 GB"), "3,600", "$0.0247", "$0.02"],
            ["30 Nov 18:00", "GPU", "1,800", "$0.33", "$0.17"],
        ],
        "total": [_("Since start"), "", "", "", "$0.52"],
        "offers": [
            {"gpu": "RTX A6000", "verdict": "fits", "total": 48, "rate": _usd("0.33")},
            {"gpu": "RTX 5090", "verdict": "tight", "total": 32, "rate": _usd("0.69")},
            {"gpu": "RTX 4090", "verdict": "no", "total": 24, "rate": _usd("0.33")},
        ],
        "states": State.choices,
    }


def _ways() -> dict[str, Any]:
    return {
        "page": Paginator(range(100), 25).page(2),
        "tabs": [
            {"label": _("Statement"), "url": "#", "is_current": True},
            {"label": _("Top-ups"), "url": "#", "count": 3},
            {"label": _("Invoices"), "url": "#", "count": 0},
        ],
        "options": [
            {"label": "8 h", "url": "#"},
            {"label": "40 h", "url": "#", "is_current": True},
            {"label": "120 h", "url": "#"},
        ],
        "crumbs": [
            {"label": _("GPUs"), "url": "#"},
            {"label": "NVIDIA", "url": "#"},
            {"label": "RTX A6000"},
        ],
        "steps": [_("Plan"), _("Quote"), _("Fund"), _("Run")],
        "states": [
            ("draft", _("Draft")),
            ("funded", _("Funded")),
            ("queued", _("Queued")),
            ("running", _("Running")),
            ("stopped", _("Stopped")),
            ("failed", _("Failed")),
            ("ended", _("Ended")),
        ],
        "command": "ssh -p 2201 renter@ws-7f3k.frankfurt.example",
        "colors": COLORS,
    }


def _usd(amount: str) -> Money:
    return Money(Decimal(amount), "USD")


COLORS = [
    "paper", "sheet", "well", "line", "line-strong", "ink", "ink-soft",
    "brand", "brand-strong", "brand-ink", "brand-well", "fits", "fits-well",
    "tight", "tight-well", "no", "no-well", "no-ink",
    "part-1", "part-2", "part-3", "part-4", "part-5",
]  # fmt: skip
