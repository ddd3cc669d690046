"""
Four other public ways to estimate fine-tuning memory, for comparison.

Each is the formula that MEMORY.md section 3 found in the open source, at the inputs
of one training. None of these tools claims to hold for the whole range of the
measurements, and each gives one figure for every way to measure.
"""

from collections.abc import Callable

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.fit import Method, Optimizer, Training

Estimator = Callable[[Training], float | None]
"""
Returns 1e9 bytes, or None for a training that the tool does not estimate.
"""

SEED_BYTES = {Method.QLORA: 1.0, Method.LORA: 2.5, Method.FULL: 16.0}


def rule_of_thumb(training: Training) -> float:
    """
    The guides' rule read as bytes a parameter: 1.0, 2.5 or 16.
    """
    return SEED_BYTES[training.method] * training.architecture.parameters / 1e9


def eleuther(training: Training) -> float:
    """
    EleutherAI's cookbook: 2 or 0.5 bytes a weight, 4 + 12 a trained one, and 34 T h L.
    """
    shape = training.architecture
    size = 0.5 if training.method is Method.QLORA else 2
    activations = 34 * training.tokens * shape.hidden_size * shape.num_layers
    total = size * shape.parameters + 16 * _trained(training) + activations
    return total / 1e9


def fitcheck(training: Training) -> float | None:
    """
    fitcheck-llm 0.3.1: adapters only, logits in 3.5 fp32 copies, 0.5 GiB and 5 %.
    """
    if training.method is Method.FULL:
        return None
    shape, tokens = training.architecture, training.tokens
    is_quantized = training.method is Method.QLORA
    weights = (0.5159 if is_quantized else 2) * shape.linear + 2 * shape.rest
    layer = (
        2
        * tokens
        * (
            12 * shape.hidden_size
            + 3 * shape.query_size
            + shape.key_size
            + 3 * shape.active_intermediate_size
        )
    )
    loss = 4 * 3.5 * tokens * shape.vocab_size
    if training.gradient_checkpointing:
        size = 4 if is_quantized else 2
        kept = size * tokens * shape.hidden_size * shape.num_layers
        activations = kept + max(layer, loss)
    else:
        activations = layer * shape.num_layers + loss
    total = weights + 16 * _trained(training) + activations + 0.5 * 2**30
    return total * 1.05 / 1e9


def unsloth_studio(training: Training) -> float:
    """
    Unsloth Studio: no checkpoints and no loss, as its own kernels have none; 1.4 GB.
    """
    shape = training.architecture
    is_quantized = training.method is Method.QLORA
    weights = 2 * shape.linear / (3.2 if is_quantized else 1) + 2 * shape.rest
    states = 2 + (4 if training.optimizer is Optimizer.ADAMW_8BIT else 6)
    width = (
        shape.query_size
        + 2 * shape.key_size
        + 2 * shape.hidden_size
        + 2 * shape.active_intermediate_size
    )
    layers = 1 if training.gradient_checkpointing else shape.num_layers
    activations = training.tokens * width * 2 * 1.25 * layers
    return (weights + states * _trained(training) + activations) / 1e9 + 1.4


OTHER_ESTIMATORS: dict[str, Estimator] = {
    "fitcheck": fitcheck,
    "unsloth": unsloth_studio,
    "rule": rule_of_thumb,
    "eleuther": eleuther,
}
ESTIMATOR_NAMES: dict[str, str | Promise] = {
    "fitcheck": "fitcheck-llm 0.3.1",
    "unsloth": "Unsloth Studio",
    "rule": _("Bytes a parameter"),
    "eleuther": "EleutherAI cookbook",
}


def _trained(training: Training) -> int:
    shape = training.architecture
    if training.method is Method.FULL:
        return shape.parameters
    return shape.adapter_parameters(rank=training.rank, targets=training.targets)
