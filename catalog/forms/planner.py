"""
The planner's state, which is its address: the form is sent by GET.
"""

from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

import formats
from catalog.changes import GPU_COUNTS
from catalog.forms.fields import CountField, DatalistInput
from catalog.frameworks import FRAMEWORKS
from catalog.models import BaseModel, Method

OWN = "own"
AUTO = "auto"
AS_FRAMEWORK = (AUTO, _("As the framework"))

# The hint of a field is the note of its chosen option.
NOTES: dict[str, dict[str, str | Promise]] = {
    "method": {
        "qlora": _("The base model in 4 bit, small adapters are trained."),
        "lora": _("The base model in 16 bit, small adapters are trained."),
        "full": _("All weights are trained, with their gradients and optimizer."),
    },
    "framework": {name: each.note for name, each in FRAMEWORKS.items()},
    "targets": {
        "all": _("Adapters on every matrix of the layers: the usual choice."),
        "attention": _("Query, key, value and output; a little less memory."),
        "qv": _("Query and value only, as in the first LoRA paper."),
    },
    "checkpointing": {
        "on": _("Keeps one state a layer and computes the rest again: a third slower."),
        "off": _("Keeps everything until the backward pass: much more memory."),
    },
    "optimizer": {
        AUTO: _(
            "What the framework's recipes ask for. Adapters need little either way."
        ),
        "adamw": _("PyTorch's default: 10 bytes a trained weight at its step."),
        "adamw_fused": _("One kernel without a copy: 8 bytes a trained weight."),
        "adamw_8bit": _("States in 8 bit: 6 bytes a trained weight."),
        "adamw_paged_8bit": _("8-bit states that may leave the card: 4 bytes."),
        "adamw_fp32": _("Weights and states in fp32: 16 bytes a trained weight."),
        "adamw_master": _("bf16 with an fp32 copy, as DeepSpeed does: 20 bytes."),
    },
    "loss": {
        AUTO: _("What the framework does by default."),
        "plain": _("Logits in several fp32 copies: often the peak of the whole run."),
        "fast": _("A Triton kernel that works in place: about 9 bytes a logit."),
        "fused": _("Liger or cut cross-entropy: the logits are never held."),
        "chunked": _("Logits in chunks, as torchtune does."),
    },
    "residual": {
        AUTO: _("fp32 for QLoRA with a plain loss under PEFT, else 16 bit."),
        "16": _("Hidden states between layers take 2 bytes."),
        "32": _("Hidden states between layers take 4 bytes."),
    },
    "attention": {
        "flash": _("Scores are never held: flash attention or SDPA."),
        "eager": _("Scores are held: grows with the square of the length."),
    },
}


def _select(label: Any, choices: list[tuple[str, Any]]) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices)


def _segments(label: Any, choices: list[tuple[str, Any]]) -> forms.ChoiceField:
    widget = forms.RadioSelect(attrs={"class": "segments"})
    return forms.ChoiceField(label=label, choices=choices, widget=widget)


class PlannerForm(forms.Form):
    """
    What is planned; the fields of `DETAILS` are folded away until one is changed.
    """

    DEFAULTS = {
        "source": "listed",
        "model": "meta-llama-3-1-8b",
        "method": Method.QLORA.value,
        "sequence_length": "2048",
        "micro_batch": "1",
        "hours": "40",
        "storage_gb": "200",
        "gpus": "1",
        "framework": "huggingface",
        "rank": "16",
        "targets": "all",
        "checkpointing": "on",
        "optimizer": AUTO,
        "loss": AUTO,
        "residual": AUTO,
        "attention": "flash",
    }
    ALWAYS = (
        "model",
        "method",
        "sequence_length",
        "micro_batch",
        "hours",
        "storage_gb",
    )
    DETAILS = (
        "gpus",
        "framework",
        "loss",
        "checkpointing",
        "optimizer",
        "rank",
        "targets",
        "residual",
        "attention",
    )

    source = _segments(_("Model"), [("listed", _("From the list")), (OWN, _("My own"))])
    model = forms.CharField(
        label=_("Base model"),
        max_length=100,
        error_messages={"required": _("Name a model, for example Llama 3.1 8B.")},
    )
    method = _segments(
        _("Method"),
        [
            (Method.QLORA.value, "QLoRA"),
            (Method.LORA.value, "LoRA"),
            (Method.FULL.value, _("Full")),
        ],
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
    gpus = _select(_("GPUs"), [(str(count), str(count)) for count in GPU_COUNTS])
    framework = _select(
        _("Framework"), [(name, each.name) for name, each in FRAMEWORKS.items()]
    )
    loss = _select(
        _("Loss"),
        [
            AS_FRAMEWORK,
            ("plain", _("Plain")),
            ("fast", _("Fast cross-entropy")),
            ("fused", _("Fused")),
            ("chunked", _("In chunks")),
        ],
    )
    checkpointing = _segments(
        _("Gradient checkpointing"), [("on", _("On")), ("off", _("Off"))]
    )
    optimizer = _select(
        _("Optimizer"),
        [
            AS_FRAMEWORK,
            ("adamw", "AdamW"),
            ("adamw_fused", _("AdamW, fused")),
            ("adamw_8bit", _("AdamW, 8 bit")),
            ("adamw_paged_8bit", _("AdamW, 8 bit, paged")),
            ("adamw_fp32", _("AdamW, fp32")),
            ("adamw_master", _("AdamW, fp32 copy of the weights")),
        ],
    )
    rank = CountField(
        label=_("Rank of the adapters"),
        min_value=1,
        max_value=4096,
        help_text=_("Hardly matters for memory: rank 64 costs 0.1 GB more than 8."),
    )
    targets = _select(
        _("Adapted matrices"),
        [
            ("all", _("All")),
            ("attention", _("Attention")),
            ("qv", _("Query and value")),
        ],
    )
    residual = _select(
        _("Hidden states"), [AS_FRAMEWORK, ("16", _("16 bit")), ("32", "fp32")]
    )
    attention = _select(_("Attention"), [("flash", _("Flash")), ("eager", _("Eager"))])

    def __init__(
        self, query: Mapping[str, Any], *, models: Iterable[BaseModel]
    ) -> None:
        self.models = list(models)
        known = {name: query[name] for name in self.DEFAULTS if name in query}
        data = {**self.DEFAULTS, **known}
        # What came as a slug in a link is shown by its name.
        self.chosen = self._find(data["model"])
        if self.chosen:
            data["model"] = self.chosen.name
        super().__init__(data)
        self.is_own = data["source"] == OWN
        self._draw_model()
        self._explain()

    def _draw_model(self) -> None:
        names = [model.name for model in self.models]
        self.fields["model"].widget = (
            forms.HiddenInput() if self.is_own else DatalistInput(names)
        )
        if self.chosen:
            language = formats.language()
            shape = self.chosen
            hint = _("%(parameters)s, %(layers)s layers, vocabulary of %(vocabulary)s")
            self.fields["model"].help_text = hint % {
                "parameters": formats.billions(shape.total_params_b, language),
                "layers": formats.number(shape.num_layers, language),
                "vocabulary": formats.number(shape.vocab_size, language),
            }

    def _explain(self) -> None:
        for name, notes in NOTES.items():
            if note := notes.get(self.data[name]):
                self.fields[name].help_text = str(note)
        if self.data["gpus"] != "1":
            self.fields["gpus"].help_text = _(
                "They share the model (FSDP), each with its own batch. Provisional."
            )

    def details(self) -> list[forms.BoundField]:
        """
        Return the fields that are folded away.
        """
        return [self[name] for name in self.DETAILS]

    @property
    def has_details(self) -> bool:
        """
        Whether one of the folded fields is not as it was, or has an error.
        """
        return any(
            self.data[name] != self.DEFAULTS[name] or name in self.errors
            for name in self.DETAILS
        )

    def state(self) -> dict[str, str]:
        """
        Return the valid state as the query of a link, without what goes unsaid.
        """
        data = {**self.cleaned_data, "model": self.cleaned_data["model"].slug}
        return {
            name: str(data[name])
            for name, default in self.DEFAULTS.items()
            if name in self.ALWAYS or str(data[name]) != default
        }

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
        if self.chosen:
            return self.chosen
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
