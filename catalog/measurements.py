"""
Reads a published measurement (a row of data/memory_measurements.csv) as a training.

What a row does not say is filled in from documented defaults of its framework, each
named where it is used; MEMORY.md lists the sources. Nothing here is fitted to a row.
"""

import csv
import re
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cache
from math import isnan
from pathlib import Path
from typing import Any

from catalog.fit import (
    ALL_TARGETS,
    HUGGING_FACE,
    Architecture,
    Attention,
    LossKernel,
    Method,
    Optimizer,
    Quantization,
    Stack,
    Training,
)

Row = Mapping[str, str]
DATA = Path(__file__).parent / "data"

# LitGPT runs in pure bf16, keeps embedding and head as two matrices also where the
# model ties them, quantizes the head too, and drops out a copy of an adapter's input.
# Its kept layers were measured at 1.2 times the formula (48 runs). bitsandbytes then
# still kept the input of each matrix: in bf16 in 2023, in fp32 under later Lightnings.
LITGPT = Stack(
    adapters_are_fp32=False,
    adapter_input_bytes=2,
    shares_adapter_inputs=True,
    linear_input_bytes=4,
    kept_layers_factor=1.2,
    has_own_head=True,
    quantizes_head=True,
)
LITGPT_2023 = replace(LITGPT, linear_input_bytes=2)
# Its samples are shorter than the cap that is stated as their length.
PEFT_COMPARISON = Stack(kept_layers_factor=0.75)
# Checkpoints go to the CPU.
UNSLOTH = Stack(offloads_checkpoints=True)
# torch 2.1 without expandable segments, and samples of very different length: freed
# blocks do not fit the next sample.
MS_SWIFT = Stack(cache_factor=1.5)
# Two reduce buckets and one gather bucket of 2e8 16-bit numbers: about 1 GB.
ZERO_2 = Stack(buckets_gb=1.0)

STACKS = (
    ("LitGPT Oct 2023", LITGPT_2023),
    ("LitGPT", LITGPT),
    ("PEFT method comparison", PEFT_COMPARISON),
    ("Unsloth", UNSLOTH),
    ("ms-swift (torch 2.1", MS_SWIFT),
    ("ZeRO-2", ZERO_2),
)

# Stacks that leave norms, embeddings and hidden states in 16 bit in a QLoRA run.
KEEPS_16BIT = ("LitGPT", "torchtune", "fsdp_qlora", "Axolotl", "Unsloth")

OPTIMIZERS = {
    "adamw_torch foreach=False": Optimizer.ADAMW_FUSED,
    "adamw_8bit": Optimizer.ADAMW_8BIT,
    "paged_adamw_8bit": Optimizer.ADAMW_PAGED_8BIT,
    "adamw_in_bwd": Optimizer.ADAMW_IN_BACKWARD,
    "adamw_8bit_in_bwd": Optimizer.ADAMW_8BIT_IN_BACKWARD,
}
LOSS_KERNELS = {
    "fast_ce": LossKernel.FAST,
    "fused": LossKernel.FUSED,
    "offload_fused": LossKernel.FUSED,
    "chunked": LossKernel.CHUNKED,
}
TARGETS = {*ALL_TARGETS, "qkv", "head"}


@dataclass(frozen=True)
class Card:
    """
    The card of a row; `memory_gb` as it is sold, of what one process can use.
    """

    memory_gb: int
    has_inline_ecc: bool


# Cards that nobody lets here, or that rows name without saying which of two they mean.
OTHER_CARDS = {
    "A10G": Card(24, has_inline_ecc=True),
    "H100": Card(80, has_inline_ecc=False),
}


class NotDescribed(Exception):
    """
    A row lacks what an estimate needs, or is about something that is not estimated.
    """


def measured_rows() -> list[dict[str, str]]:
    """
    Return the published measurements that ship with the project.
    """
    with (DATA / "memory_measurements.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def as_stated(row: Mapping[str, Any]) -> Row:
    """
    Return a row as text, empty where a column is missing or has no value.

    A row that does not say which model's shape it has is taken by its model, and one
    that does not say whether it is to be scored is, as far as it can be described.
    """
    stated = {name: _text(value) for name, value in row.items()}
    fallbacks = {"arch_key": stated.get("model", ""), "score": "yes"}
    return defaultdict(str, {**fallbacks, **stated})


def _text(value: Any) -> str:
    if isinstance(value, float):
        return "" if isnan(value) else f"{value:g}"
    return "" if value is None else str(value).strip()


@cache
def architectures() -> dict[str, Architecture]:
    """
    Return the shapes of the models that rows name, by their Hugging Face id.
    """
    with (DATA / "base_models.csv").open(newline="") as file:
        return {row["hf_id"]: _architecture(row) for row in csv.DictReader(file)}


def training_of(row: Row) -> Training:
    """
    Describe the run that a row measured.

    :raises NotDescribed: if the row lacks an input, or its run is spread over cards
    """
    row = as_stated(row)
    if not _is_on_one_card(row):
        raise NotDescribed(f"{row['id']}: the run is spread over cards.")
    architecture = architectures().get(row["arch_key"])
    if architecture is None:
        raise NotDescribed(f"{row['id']}: the model's shape is not known.")
    method = _method(row)
    return Training(
        architecture=architecture,
        method=method,
        sequence_length=_whole(row, "seq_len"),
        micro_batch=_whole(row, "micro_batch"),
        rank=_whole(row, "lora_rank", default=16),
        targets=_targets(row),
        trains_embeddings="emb" in row["lora_targets"],
        gradient_checkpointing=row["grad_ckpt"] != "no",
        optimizer=_optimizer(row, method),
        loss_kernel=_loss_kernel(row),
        attention=_attention(row),
        residual_fp32=_residual_fp32(row),
        accumulates_gradients=_accumulates(row),
        quantization=_quantization(row),
        stack=_stack(row),
    )


def card_of(row: Row) -> Card | None:
    """
    Return the card of a row, None if it does not say which or how large.
    """
    row = as_stated(row)
    named = _card_named(row["gpu"])
    stated = re.search(r"(\d+) ?Gi?B", row["gpu"])
    if stated is None:
        return named
    return Card(int(stated[1]), has_inline_ecc=bool(named and named.has_inline_ecc))


def _card_named(text: str) -> Card | None:
    """
    Find the card whose name stands in a text, the longest of several.
    """
    found = [name for name in _cards() if re.search(rf"\b{re.escape(name)}\b", text)]
    return _cards()[max(found, key=len)] if found else None


@cache
def _cards() -> dict[str, Card]:
    with (DATA / "gpus.csv").open(newline="") as file:
        listed = {
            row["label"]: Card(
                int(row["process_memory_gb"] or row["memory_gb"]),
                has_inline_ecc=row["has_inline_ecc"] == "yes",
            )
            for row in csv.DictReader(file)
        }
    return {**listed, **OTHER_CARDS}


def _is_on_one_card(row: Row) -> bool:
    # Under plain data parallelism each card holds everything.
    if row["sharding"] == "":
        return row["num_gpus"] in ("", "1")
    return row["sharding"] in ("none", "ddp")


def _whole(row: Row, column: str, default: int | None = None) -> int:
    if row[column] == "" and default is not None:
        return default
    if not row[column].isdecimal() or int(row[column]) < 1:
        raise NotDescribed(f"{row['id']}: {column} is not stated.")
    return int(row[column])


def _architecture(row: Row) -> Architecture:
    def whole(column: str) -> int:
        return int(row[column] or 0)

    return Architecture(
        hidden_size=whole("hidden_size"),
        num_layers=whole("num_layers"),
        num_heads=whole("num_heads"),
        num_kv_heads=whole("num_kv_heads"),
        head_dim=whole("head_dim"),
        intermediate_size=whole("intermediate_size"),
        vocab_size=whole("vocab_size"),
        total_params_b=Decimal(row["total_params_b"]),
        mlp_matrices=whole("mlp_matrices"),
        norms_per_layer=whole("norms_per_layer"),
        norm_kind=row["norm_kind"],
        tie_word_embeddings=row["tie_word_embeddings"] in ("yes", "true"),
        num_experts=whole("num_experts"),
        experts_per_token=whole("experts_per_token"),
        moe_intermediate_size=whole("moe_intermediate_size"),
    )


def _method(row: Row) -> Method:
    name = row["method"]
    if name in ("full", "lora"):
        return Method(name)
    if name.startswith("qlora") or name == "lora-8bit":
        return Method.QLORA
    raise NotDescribed(f"{row['id']}: {name} is not estimated.")


def _targets(row: Row) -> tuple[str, ...]:
    targets = row["lora_targets"]
    if targets == "DEFAULT":
        return ("qkv",)
    if targets in ("", "all", "all+emb+head"):
        return ALL_TARGETS
    names = tuple(targets.split(","))
    if not set(names) <= TARGETS:
        raise NotDescribed(f"{row['id']}: the targets {targets} are not known.")
    return names


def _optimizer(row: Row, method: Method) -> Optimizer:
    if "Qwen finetune.py" in row["framework"] and method is Method.FULL:
        # Its scripts train all weights under DeepSpeed, with an fp32 master copy.
        return Optimizer.ADAMW_MASTER
    if "torchtune" in row["framework"] and row["optimizer"] == "adamw_torch":
        # Its recipes ask for the fused AdamW.
        return Optimizer.ADAMW_FUSED
    return OPTIMIZERS.get(row["optimizer"], Optimizer.ADAMW)


def _loss_kernel(row: Row) -> LossKernel:
    kernel = LOSS_KERNELS.get(row["loss_impl"], LossKernel.PLAIN)
    if kernel is LossKernel.CHUNKED and "LitGPT" in row["framework"]:
        return LossKernel.CHUNKED_16BIT
    if kernel is not LossKernel.PLAIN:
        return kernel
    if "DeepSpeed" in row["framework"] and row["adapter_dtype"] == "fp16":
        # DeepSpeed's fp16 has no autocast: the loss is computed in fp16 as well.
        return LossKernel.HALF
    if row["arch_key"].startswith("Qwen/Qwen-"):
        # The first Qwen's own code takes the loss from 16-bit logits.
        return LossKernel.PLAIN_16BIT_LOGITS
    return kernel


def _attention(row: Row) -> Attention:
    # Gemma 2 caps its scores softly, which LitGPT does outside the fused kernel.
    is_capped = "gemma-2-" in row["arch_key"] and "LitGPT" in row["framework"]
    is_eager = row["attention"] == "eager" or is_capped
    return Attention.EAGER if is_eager else Attention.FLASH


def _residual_fp32(row: Row) -> bool | None:
    if row["residual_fp32"]:
        return row["residual_fp32"] == "yes"
    if any(name in row["framework"] for name in KEEPS_16BIT):
        return False
    return None


def _accumulates(row: Row) -> bool:
    # LitGPT's recipes gather several micro-batches for a step.
    return row["grad_accum"] not in ("", "1") or "LitGPT" in row["framework"]


def _quantization(row: Row) -> Quantization:
    if row["bits"] == "8":
        return Quantization.INT8
    if row["bits"] not in ("4", "16"):
        raise NotDescribed(f"{row['id']}: {row['bits']} bits are not estimated.")
    if row["method"] in ("qlora-gptq", "qlora-awq"):
        return Quantization.GPTQ
    is_litgpt = "LitGPT" in row["framework"] and "nf4-dq" not in row["framework"]
    if is_litgpt or "fsdp_qlora" in row["framework"]:
        return Quantization.NF4
    return Quantization.NF4_DOUBLE


def _stack(row: Row) -> Stack:
    stack = next(
        (stack for name, stack in STACKS if name in row["framework"]), HUGGING_FACE
    )
    if "Qwen finetune.py" in row["framework"] and row["method"] == "full":
        stack = ZERO_2
    return replace(
        stack,
        adapters_are_fp32=row["adapter_dtype"] != "bf16",
        offloads_checkpoints=stack.offloads_checkpoints
        or row["grad_ckpt"] == "offload",
    )
