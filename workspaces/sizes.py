"""
How much storage a recipe needs at the very least; pure.
"""

from decimal import ROUND_CEILING, Decimal

from catalog.fit import ALL_TARGETS, Architecture

# Weights in 16 bits: two bytes a parameter. Adapters are saved in 32.
BYTES_PER_WEIGHT = 2
BYTES_PER_ADAPTER_WEIGHT = 4
GB = 10**9


def least_storage_gb(
    *,
    architecture: Architecture,
    method: str,
    lora_rank: int | None,
    checkpoints_kept: int,
) -> int:
    """
    Return the GB that the model and its kept checkpoints take, without optimizer state.

    A checkpoint of full fine-tuning is the whole model, one of LoRA or QLoRA the
    adapters of all linear layers.
    """
    weights = architecture.parameters * BYTES_PER_WEIGHT
    checkpoint = weights
    if method != "full":
        adapters = architecture.adapter_parameters(
            rank=lora_rank or 0, targets=ALL_TARGETS
        )
        checkpoint = adapters * BYTES_PER_ADAPTER_WEIGHT
    needed = Decimal(weights + checkpoint * checkpoints_kept) / GB
    return int(needed.to_integral_value(rounding=ROUND_CEILING))
