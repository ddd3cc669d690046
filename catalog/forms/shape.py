"""
A model of one's own: its shape, in the words of Hugging Face's configurations.
"""

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.fit import Architecture, count_parameters
from catalog.fit.config_file import SIZES, ConfigNotUnderstood, ModelConfig, read_config
from catalog.forms.fields import CountField, FigureField
from catalog.models import BaseModel

YES_NO = [("yes", _("Yes")), ("no", _("No"))]


def _size(label: Any, name: str, **options: Any) -> CountField:
    return CountField(label=label, min_value=1, max_value=SIZES[name][1], **options)


def _choice(label: Any, choices: Any, **options: Any) -> forms.ChoiceField:
    return forms.ChoiceField(label=label, choices=choices, **options)


class ShapeForm(forms.Form):
    """
    The parameters of a model that is not in the list; part of the planner's address.
    """

    hidden_size = _size(_("Hidden size"), "hidden_size")
    num_hidden_layers = _size(_("Layers"), "num_layers")
    num_attention_heads = _size(_("Attention heads"), "num_heads")
    num_key_value_heads = _size(_("Key and value heads"), "num_kv_heads")
    head_dim = _size(_("Head dimension"), "head_dim")
    intermediate_size = _size(_("MLP width"), "intermediate_size")
    vocab_size = _size(_("Vocabulary"), "vocab_size")
    max_position_embeddings = _size(_("Longest context"), "longest", required=False)
    tie_word_embeddings = _choice(_("Tied embeddings"), YES_NO)
    mlp = _choice(_("MLP"), [("3", _("Gated")), ("2", _("Two matrices"))])
    norm = _choice(_("Norm"), [("rmsnorm", "RMSNorm"), ("layernorm", "LayerNorm")])
    norms_per_layer = CountField(label=_("Norms a layer"), min_value=1, max_value=8)
    num_experts = CountField(
        label=_("Experts"), min_value=0, max_value=4096, required=False
    )
    num_experts_per_tok = _size(
        _("Experts a token"), "experts_per_token", required=False
    )
    moe_intermediate_size = _size(
        _("Expert width"), "moe_intermediate_size", required=False
    )
    total_params_b = FigureField(
        label=_("Parameters"),
        unit=_("billion"),
        above=0,
        most=100_000,
        required=False,
        help_text=_("Empty: counted from the sizes above."),
    )

    def __init__(self, query: Mapping[str, Any], *, like: BaseModel | None) -> None:
        typed = {name: query[name] for name in self.base_fields if name in query}
        if not typed and like is not None:
            typed = shape_query(_config_of(like))
        super().__init__(typed)

    def groups(self) -> list[list[forms.BoundField]]:
        """
        Return the fields two by two, as they are drawn.
        """
        fields = list(self)
        return [fields[at : at + 2] for at in range(0, len(fields), 2)]

    def clean(self) -> dict[str, Any]:
        """
        Refuse experts of which half is missing.
        """
        data = super().clean() or {}
        if data.get("num_experts"):
            for name in ("num_experts_per_tok", "moe_intermediate_size"):
                if name not in self.errors and not data.get(name):
                    self.add_error(name, _("Experts need this as well."))
        return data

    def architecture(self) -> Architecture:
        """
        Return the shape, with its parameters counted if they were not typed.
        """
        data = self.cleaned_data
        shape = Architecture(
            hidden_size=data["hidden_size"],
            num_layers=data["num_hidden_layers"],
            num_heads=data["num_attention_heads"],
            num_kv_heads=data["num_key_value_heads"],
            head_dim=data["head_dim"],
            intermediate_size=data["intermediate_size"],
            vocab_size=data["vocab_size"],
            total_params_b=data["total_params_b"] or 0,
            mlp_matrices=int(data["mlp"]),
            norms_per_layer=data["norms_per_layer"],
            norm_kind=data["norm"],
            tie_word_embeddings=data["tie_word_embeddings"] == "yes",
            num_experts=data["num_experts"] or 0,
            experts_per_token=data["num_experts_per_tok"] or 0,
            moe_intermediate_size=data["moe_intermediate_size"] or 0,
        )
        if data["total_params_b"]:
            return shape
        billions = Decimal(count_parameters(shape)) / 10**9
        return replace(shape, total_params_b=billions)

    def state(self) -> dict[str, str]:
        """
        Return the shape as the query of a link, without what is empty.
        """
        return {
            name: str(value)
            for name, value in self.cleaned_data.items()
            if value not in (None, "")
        }


class ConfigForm(forms.Form):
    """
    A pasted config.json.
    """

    config = forms.CharField(
        label=_("Or paste a config.json"),
        strip=False,
        error_messages={"required": _("Paste the text of a config.json.")},
        widget=forms.Textarea(
            attrs={"rows": 6, "spellcheck": "false", "class": "mono"}
        ),
        help_text=_("The file beside a model's weights on Hugging Face, up to 64 kB."),
    )

    def clean_config(self) -> ModelConfig:
        """
        Return what the configuration describes.
        """
        try:
            return read_config(self.cleaned_data["config"])
        except ConfigNotUnderstood as error:
            raise forms.ValidationError(str(error)) from error


def shape_query(config: ModelConfig) -> dict[str, str]:
    """
    Return a shape as the names and values of the form.
    """
    shape = config.architecture
    values: dict[str, Any] = {
        "hidden_size": shape.hidden_size,
        "num_hidden_layers": shape.num_layers,
        "num_attention_heads": shape.num_heads,
        "num_key_value_heads": shape.num_kv_heads,
        "head_dim": shape.head_dim,
        "intermediate_size": shape.intermediate_size,
        "vocab_size": shape.vocab_size,
        "max_position_embeddings": config.longest,
        "tie_word_embeddings": "yes" if shape.tie_word_embeddings else "no",
        "mlp": shape.mlp_matrices,
        "norm": shape.norm_kind,
        "norms_per_layer": shape.norms_per_layer,
        "num_experts": shape.num_experts or None,
        "num_experts_per_tok": shape.experts_per_token or None,
        "moe_intermediate_size": shape.moe_intermediate_size or None,
        "total_params_b": f"{shape.total_params_b:f}".rstrip("0").rstrip("."),
    }
    return {name: str(value) for name, value in values.items() if value is not None}


def _config_of(model: BaseModel) -> ModelConfig:
    return ModelConfig(model.architecture(), model.max_position_embeddings)
