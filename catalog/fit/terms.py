"""
The terms of the estimate, in bytes; MEMORY.md has the measurements behind each.

h, a, k, f, V, L are the sizes of the hidden state, all queries, all keys, the MLP,
the vocabulary and the number of layers; T is the tokens of a step.
"""

from dataclasses import dataclass

from .architecture import Architecture
from .training import (
    Attention,
    LossKernel,
    Method,
    Optimizer,
    Quantization,
    Training,
)

# Bytes a quantized parameter. NF4: half a byte and one fp32 scale per 64, which double
# quantization shrinks to 0.127 bit (arXiv 2305.14314). GPTQ with groups of 128.
QUANTIZED_BYTES = {
    Quantization.NF4_DOUBLE: 0.5159,
    Quantization.NF4: 0.5625,
    Quantization.GPTQ: 0.52,
    Quantization.INT8: 1.02,
}

# Bytes a token and vocabulary entry. Plain: 16-bit logits, fp32 copy, shifted copy,
# log-softmax, gradients. Models that never upcast their logits save the copy, and a
# run that is 16 bit throughout everything in fp32. Triton's fast cross-entropy works
# in place; Liger and cut cross-entropy never hold the logits.
LOSS_BYTES = {
    LossKernel.PLAIN: 14.8,
    LossKernel.PLAIN_16BIT_LOGITS: 12.0,
    LossKernel.HALF: 7.6,
    LossKernel.FAST: 9.0,
    LossKernel.FUSED: 0.0,
    LossKernel.CHUNKED: 1.0,
    LossKernel.CHUNKED_16BIT: 7.0,
}


@dataclass(frozen=True)
class Phases:
    """
    Bytes a parameter of full fine-tuning, without activations.

    `step` while the optimizer works, `backward` before the gradients of this step
    exist, `gradient` what accumulated gradients add to it.
    """

    step: float
    backward: float
    gradient: float = 2


# 16-bit weights unless the name says otherwise. AdamW's foreach keeps a copy of the
# states for the step: exactly 10 bytes in fms-acceleration's files. Paged states leave
# the card. An optimizer that steps in the backward pass needs the gradients of one
# layer only. Mixed precision in fp32: 4 + 4 + 8; with an fp32 master copy (ZeRO):
# 2 + 2 + 4 + 8, and 4 for the fp32 gradients.
FULL_PHASES = {
    Optimizer.ADAMW: Phases(step=10, backward=6),
    Optimizer.ADAMW_FUSED: Phases(step=8, backward=6),
    Optimizer.ADAMW_8BIT: Phases(step=6, backward=4),
    Optimizer.ADAMW_PAGED_8BIT: Phases(step=4, backward=2),
    Optimizer.ADAMW_IN_BACKWARD: Phases(step=6, backward=6, gradient=0),
    Optimizer.ADAMW_8BIT_IN_BACKWARD: Phases(step=2, backward=2, gradient=0),
    Optimizer.ADAMW_FP32: Phases(step=16, backward=12, gradient=4),
    Optimizer.ADAMW_MASTER: Phases(step=20, backward=14),
}

STEPS_IN_BACKWARD = {
    Optimizer.ADAMW_IN_BACKWARD,
    Optimizer.ADAMW_8BIT_IN_BACKWARD,
}


def weights(training: Training) -> float:
    """
    The base model: 2 bytes a parameter, or quantized with its embedding in 16 bit.
    """
    shape, stack = training.architecture, training.stack
    parameters = shape.parameters
    if stack.has_own_head and shape.tie_word_embeddings:
        parameters += shape.embedding
    if training.method is not Method.QLORA:
        return 2.0 * parameters
    quantized = shape.linear
    if stack.quantizes_head:
        quantized += shape.embedding
    if not stack.quantizes_experts:
        quantized -= shape.experts
    upcast = 2 * shape.rest if training.has_fp32_residual else 0
    in_16bit = 2 * (parameters - quantized)
    return quantized * QUANTIZED_BYTES[training.quantization] + in_16bit + upcast


def adapters(training: Training) -> float:
    """
    Weights, gradients and optimizer states of the adapters.

    PEFT keeps them in fp32 (4 + 4 + 8); loops in pure bf16 need half of that. An 8-bit
    optimizer's saving is left out: the longest contexts that are stated for runs with
    one agree with 16 bytes.
    """
    size = 16 if training.stack.adapters_are_fp32 else 8
    return size * training.architecture.adapter_parameters(
        rank=training.rank, targets=training.targets
    )


def trained_embeddings(training: Training) -> int:
    """
    Parameters of embedding and head, if they are trained whole beside the adapters.
    """
    shape = training.architecture
    if not training.trains_embeddings:
        return 0
    return shape.embedding * (1 if shape.tie_word_embeddings else 2)


def layer_gradients(training: Training) -> float:
    """
    Gradients of the one layer that an optimizer in the backward pass works on.
    """
    shape = training.architecture
    one_layer = 2 * shape.linear / shape.num_layers
    return one_layer if training.optimizer in STEPS_IN_BACKWARD else 0


def loss_peak(training: Training) -> float:
    """
    Logits and what is computed from them: T x V bytes, times what the kernel holds.
    """
    logits = training.tokens * training.architecture.vocab_size
    return logits * LOSS_BYTES[training.loss_kernel]


def layer_peak(training: Training) -> float:
    """
    One layer in the backward pass, recomputed: T (10h + 4a + 4k + 14f) bytes.

    Fused kernels spare 4h, hidden states in fp32 add a fifth, attention that is not
    fused keeps its scores.
    """
    shape = training.architecture
    hidden = 6 if training.has_fused_kernels else 10
    per_token = (1.2 if training.has_fp32_residual else 1.0) * (
        hidden * shape.hidden_size
        + 4 * (shape.query_size + shape.key_size)
        + 14 * shape.active_intermediate_size
    )
    if training.attention is Attention.EAGER:
        per_token += 8 * shape.num_heads * training.sequence_length
    return training.tokens * per_token


def checkpoints(training: Training) -> float:
    """
    The hidden state at each layer's entry: T x L x h, 2 or 4 bytes; none offloaded.
    """
    if training.stack.offloads_checkpoints:
        return 0
    shape = training.architecture
    size = 4 if training.has_fp32_residual else 2
    return training.tokens * shape.num_layers * shape.hidden_size * size


def kept_layers(training: Training) -> float:
    """
    Everything that the backward pass reads of every layer, without checkpointing.
    """
    shape, stack = training.architecture, training.stack
    per_token = stack.kept_layers_factor * (
        _kept_by_layer(shape, is_full=training.method is Method.FULL)
        + _kept_by_adapters(training)
        + _kept_scores(training)
    )
    if training.method is Method.QLORA:
        per_token += stack.linear_input_bytes * shape.linear_inputs
    return training.tokens * shape.num_layers * per_token


def dequantized(training: Training) -> float:
    """
    The largest quantized matrix, while it is multiplied in 16 bit.
    """
    if training.method is not Method.QLORA:
        return 0
    shape = training.architecture
    width = shape.vocab_size if training.stack.quantizes_head else 0
    return 2 * shape.hidden_size * max(width, shape.active_intermediate_size)


def gathered(training: Training) -> float:
    """
    What FSDP gathers whole on each card: layers and, with adapters, the embedding.

    Two layers' weights, of which one is fetched ahead; full fine-tuning holds their
    gradients as well.
    """
    shape = training.architecture
    layer = shape.linear / shape.num_layers
    if training.method is Method.FULL:
        return 4 * 2 * layer
    size = QUANTIZED_BYTES[training.quantization]
    layers = 2 * layer * (size if training.method is Method.QLORA else 2)
    return layers + 2 * shape.rest


def _kept_by_layer(shape: Architecture, *, is_full: bool) -> float:
    """
    10h + 4a + 4k + 6f for RMSNorm, which works in fp32, and a gated MLP.

    LayerNorm keeps 4h less, two more norms a layer 8h more; an MLP of two matrices
    keeps 2f. Trained matrices keep their inputs as well: 6h + 2f.
    """
    hidden = 6 if shape.norm_kind == "layernorm" else 10
    hidden += 4 * max(0, shape.norms_per_layer - 2)
    width = 6 if shape.mlp_matrices == 3 else 2
    if is_full:
        hidden, width = hidden + 6, width + 2
    return (
        hidden * shape.hidden_size
        + 4 * (shape.query_size + shape.key_size)
        + width * shape.active_intermediate_size
    )


def _kept_by_adapters(training: Training) -> float:
    if training.method is Method.FULL:
        return 0
    shape, stack = training.architecture, training.stack
    targets = training.targets
    if stack.shares_adapter_inputs and set(targets) & {"q", "k", "v"}:
        # One adapter module reads the input of query, key and value.
        targets = ("q", *(set(targets) - {"q", "k", "v"}))
    kept = float(stack.adapter_input_bytes * shape.adapted_inputs(targets=targets))
    if stack.adapters_are_fp32 and "mlp" in targets:
        kept += 2 * shape.active_intermediate_size
    return kept


def _kept_scores(training: Training) -> float:
    if training.attention is Attention.FLASH:
        return 0
    return 6 * training.architecture.num_heads * training.sequence_length
