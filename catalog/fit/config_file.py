"""
Reads a model's shape from its config.json, as models on Hugging Face have one.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from .architecture import Architecture
from .parameters import count_parameters

MAX_CHARACTERS = 65_536


class ConfigNotUnderstood(Exception):
    """
    A configuration cannot be read; the message says what to change.
    """


@dataclass(frozen=True)
class Kind:
    """
    What a `model_type` stands for that its configuration does not spell out.
    """

    mlp_matrices: int = 3
    norm_kind: str = "rmsnorm"
    norms_per_layer: int = 2
    is_tied: bool = False


@dataclass(frozen=True)
class ModelConfig:
    """
    A model as its configuration describes it; `longest` is the context in tokens.
    """

    architecture: Architecture
    longest: int | None


_LLAMA = Kind()
_TIED = Kind(is_tied=True)
_GEMMA = Kind(norms_per_layer=4, is_tied=True)
_GPT = Kind(2, "layernorm", is_tied=True)
# From the configuration and modeling files of transformers 4.57: the defaults that a
# config.json may leave out.
KINDS = {
    **dict.fromkeys(
        [
            "llama",
            "mistral",
            "mixtral",
            "qwen2",
            "qwen2_moe",
            "qwen3",
            "qwen3_moe",
            "phi3",
            "phimoe",
            "olmo2",
            "olmo3",
            "olmoe",
            "internlm2",
            "internlm3",
            "baichuan",
            "deepseek",
            "deepseek_v2",
            "deepseek_v3",
            "gpt_oss",
            "glm",
            "glm4",
            "glm4_moe",
            "exaone4",
            "minicpm",
            "ministral",
        ],
        _LLAMA,
    ),
    **dict.fromkeys(["gemma", "granite", "granitemoe", "smollm3", "ernie4_5"], _TIED),
    **dict.fromkeys(["gemma2", "gemma3", "gemma3_text"], _GEMMA),
    **dict.fromkeys(["gpt2", "gpt_bigcode", "starcoder2", "bloom", "mpt"], _GPT),
    "gpt_neox": Kind(2, "layernorm"),
    "phi": Kind(2, "layernorm", norms_per_layer=1),
    "falcon": Kind(2, "layernorm", norms_per_layer=1, is_tied=True),
    "stablelm": Kind(3, "layernorm"),
}

# What each size is called, and the largest that is believed.
SIZES: dict[str, tuple[tuple[str, ...], int]] = {
    "hidden_size": (("hidden_size", "n_embd", "d_model"), 131_072),
    "num_layers": (("num_hidden_layers", "n_layer", "n_layers", "num_layers"), 1024),
    "num_heads": (("num_attention_heads", "n_head", "n_heads"), 1024),
    "num_kv_heads": (("num_key_value_heads", "num_kv_heads"), 1024),
    "head_dim": (("head_dim",), 4096),
    "intermediate_size": (("intermediate_size", "n_inner", "ffn_hidden_size"), 1 << 20),
    "vocab_size": (("vocab_size",), 1 << 22),
    "num_experts": (("num_local_experts", "num_experts", "n_routed_experts"), 4096),
    "experts_per_token": (("num_experts_per_tok", "experts_per_token"), 4096),
    "moe_intermediate_size": (("moe_intermediate_size",), 1 << 20),
    "longest": (
        ("max_position_embeddings", "n_positions", "max_seq_len", "seq_length"),
        1 << 24,
    ),
}


def read_config(text: str) -> ModelConfig:
    """
    Return the shape that a config.json describes, its parameters counted.

    :raises ConfigNotUnderstood: if it is not such a file, if a size is missing or not
        believable, or if nothing is known of its `model_type`
    """
    config = _Config(_language_part(_parsed(text)))
    kind = config.kind()
    shape = Architecture(
        hidden_size=config.size("hidden_size"),
        num_layers=config.size("num_layers"),
        num_heads=config.size("num_heads"),
        num_kv_heads=config.kv_heads(),
        head_dim=config.head_dim(),
        intermediate_size=config.intermediate_size(),
        vocab_size=config.size("vocab_size"),
        total_params_b=0,
        mlp_matrices=kind.mlp_matrices,
        norms_per_layer=kind.norms_per_layer,
        norm_kind=kind.norm_kind,
        tie_word_embeddings=config.flag("tie_word_embeddings", default=kind.is_tied),
        **config.experts(),
    )
    total = count_parameters(shape) + config.parameters_aside(shape)
    billions = Decimal(total) / 10**9
    return ModelConfig(
        architecture=replace(shape, total_params_b=round(billions, 4)),
        longest=config.size_or_none("longest"),
    )


def _parsed(text: str) -> dict[str, Any]:
    if not text.strip():
        raise ConfigNotUnderstood(_("Paste the text of a config.json."))
    if len(text) > MAX_CHARACTERS:
        raise ConfigNotUnderstood(
            _("This is longer than any config.json: %(most)s characters at most.")
            % {"most": MAX_CHARACTERS}
        )
    try:
        parsed = json.loads(
            text, parse_constant=_refuse_constant, object_pairs_hook=_without_repeats
        )
    except json.JSONDecodeError as error:
        raise ConfigNotUnderstood(
            _("This is not JSON: look at line %(line)s, character %(column)s.")
            % {"line": error.lineno, "column": error.colno}
        ) from error
    except (ValueError, RecursionError) as error:
        raise ConfigNotUnderstood(
            _("This is not a config.json: a number or a list in it is out of bounds.")
        ) from error
    if not isinstance(parsed, dict):
        raise ConfigNotUnderstood(_("A config.json is one object in braces: { … }."))
    return parsed


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _value in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ConfigNotUnderstood(
            _("“%(name)s” stands in it twice: delete one.") % {"name": twice[:60]}
        )
    return found


def _language_part(config: dict[str, Any]) -> dict[str, Any]:
    """
    Return the language model's part of a model that also sees.
    """
    inner = config.get("text_config")
    return inner if isinstance(inner, dict) else config


class _Config:
    """
    A parsed configuration, read strictly: nothing is guessed.
    """

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def kind(self) -> Kind:
        name = self.values.get("model_type")
        if not isinstance(name, str):
            raise ConfigNotUnderstood(
                _("“model_type” is missing: is this the config.json of a model?")
            )
        if name not in KINDS:
            raise ConfigNotUnderstood(
                _("Nothing is known of the model type “%(name)s”: type its sizes in.")
                % {"name": name[:60]}
            )
        if name == "falcon" and self.flag("new_decoder_architecture"):
            return replace(KINDS[name], norms_per_layer=2)
        return KINDS[name]

    def size_or_none(self, name: str) -> int | None:
        keys, most = SIZES[name]
        return next(
            (
                self._whole(key, most)
                for key in keys
                if self.values.get(key) is not None
            ),
            None,
        )

    def size(self, name: str) -> int:
        found = self.size_or_none(name)
        if found is None:
            raise ConfigNotUnderstood(
                _("“%(name)s” is missing: add it to the text.")
                % {"name": SIZES[name][0][0]}
            )
        return found

    def flag(self, key: str, *, default: bool = False) -> bool:
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise ConfigNotUnderstood(_("“%(name)s” is true or false.") % {"name": key})
        return value

    def kv_heads(self) -> int:
        if self.flag("multi_query") and not self.flag("new_decoder_architecture"):
            return 1
        return self.size_or_none("num_kv_heads") or self.size("num_heads")

    def head_dim(self) -> int:
        if self._is_compressed:
            return self._count("qk_nope_head_dim") + self._count("qk_rope_head_dim")
        return self.size_or_none("head_dim") or (
            self.size("hidden_size") // self.size("num_heads")
        )

    def intermediate_size(self) -> int:
        found = self.size_or_none("intermediate_size")
        if found is None and self.values.get("model_type") in ("gpt2", "falcon"):
            return 4 * self.size("hidden_size")
        return self.size("intermediate_size") if found is None else found

    def experts(self) -> dict[str, int]:
        experts = self.size_or_none("num_experts")
        if not experts:
            return {}
        return {
            "num_experts": experts,
            "experts_per_token": self.size("experts_per_token"),
            # Where experts are all there is, their width is the model's.
            "moe_intermediate_size": self.size_or_none("moe_intermediate_size")
            or self.intermediate_size(),
        }

    def parameters_aside(self, shape: Architecture) -> int:
        """
        Count what is not in the shape: compressed attention, shared experts, and
        dense layers in the place of layers of experts.
        """
        aside = 0
        if self._is_compressed:
            plain = 2 * shape.hidden_size * (shape.query_size + shape.key_size)
            aside += shape.num_layers * (self._compressed_attention() - plain)
        if shape.num_experts:
            aside += self._beside_experts(shape)
        return aside

    def _beside_experts(self, shape: Architecture) -> int:
        for key in ("decoder_sparse_step", "moe_layer_freq", "mlp_only_layers"):
            if self.values.get(key) not in (None, [], 0, 1):
                raise ConfigNotUnderstood(
                    _(
                        "Only some of its layers have experts (“%(name)s”), which is"
                        " not counted: type the sizes and the parameters in."
                    )
                    % {"name": key}
                )
        matrices = 3 * shape.hidden_size
        shared = self._count("n_shared_experts") * shape.moe_intermediate_size
        shared += self._count("shared_expert_intermediate_size")
        dense = self._count("first_k_dense_replace")
        routed = shape.num_experts * (
            matrices * shape.moe_intermediate_size + shape.hidden_size
        )
        sparse_layers = shape.num_layers - dense
        instead = matrices * shape.intermediate_size - routed
        return sparse_layers * matrices * shared + dense * instead

    def _compressed_attention(self) -> int:
        """
        Multi-head latent attention of DeepSeek: low-rank queries, keys and values.
        """
        hidden, heads = self.size("hidden_size"), self.size("num_heads")
        rope, value = self._count("qk_rope_head_dim"), self._count("v_head_dim")
        keyed = self._count("qk_nope_head_dim")
        queries, latent = self._count("q_lora_rank"), self._count("kv_lora_rank")
        wide = heads * (keyed + rope)
        query = queries * (hidden + wide) if queries else hidden * wide
        down, up = hidden * (latent + rope), latent * heads * (keyed + value)
        return query + down + up + heads * value * hidden

    @property
    def _is_compressed(self) -> bool:
        return bool(self._count("kv_lora_rank"))

    def _count(self, key: str) -> int:
        value = self.values.get(key)
        return 0 if value in (None, 0) else self._whole(key, 1 << 20)

    def _whole(self, key: str, most: int) -> int:
        value = self.values[key]
        # In Python, true is a whole number too.
        is_whole = isinstance(value, int) and not isinstance(value, bool)
        if not is_whole or not 1 <= value <= most:
            raise ConfigNotUnderstood(
                _("“%(name)s” is a whole number from 1 to %(most)s.")
                % {"name": key, "most": most}
            )
        return int(value)
