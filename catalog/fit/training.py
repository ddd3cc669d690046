"""
What is being estimated: a model, a method and how a software stack trains it.
"""

from dataclasses import dataclass
from enum import StrEnum

from .architecture import ALL_TARGETS, Architecture


class Method(StrEnum):
    QLORA = "qlora"
    LORA = "lora"
    FULL = "full"


class Quantization(StrEnum):
    """
    How the frozen base of a QLoRA run is stored.
    """

    NF4_DOUBLE = "nf4-dq"
    NF4 = "nf4"
    GPTQ = "gptq"
    INT8 = "int8"


class Optimizer(StrEnum):
    ADAMW = "adamw"
    ADAMW_FUSED = "adamw_fused"
    ADAMW_8BIT = "adamw_8bit"
    ADAMW_PAGED_8BIT = "adamw_paged_8bit"
    ADAMW_IN_BACKWARD = "adamw_in_backward"
    ADAMW_8BIT_IN_BACKWARD = "adamw_8bit_in_backward"
    ADAMW_FP32 = "adamw_fp32"
    ADAMW_MASTER = "adamw_master"


class LossKernel(StrEnum):
    """
    How logits become a loss; `CHUNKED_16BIT` is LitGPT's, `CHUNKED` torchtune's.
    """

    PLAIN = "plain"
    PLAIN_16BIT_LOGITS = "plain_16bit_logits"
    HALF = "half"
    FAST = "fast"
    FUSED = "fused"
    CHUNKED = "chunked"
    CHUNKED_16BIT = "chunked_16bit"


class Attention(StrEnum):
    FLASH = "flash"
    EAGER = "eager"


@dataclass(frozen=True)
class Stack:
    """
    What one training stack does otherwise than Hugging Face with PEFT.

    `kept_layers_factor` scales the activations that are kept without checkpointing;
    1.0 is prudent. `adapter_input_bytes` is what an adapter keeps of its input, a
    number, and `linear_input_bytes` what a quantized matrix keeps of its own.
    `cache_factor` is the share of the transient that the allocator caches besides
    it, `buckets_gb` what ZeRO holds to exchange gradients.
    """

    adapters_are_fp32: bool = True
    adapter_input_bytes: int = 4
    shares_adapter_inputs: bool = False
    linear_input_bytes: int = 0
    kept_layers_factor: float = 1.0
    cache_factor: float = 0.38
    has_own_head: bool = False
    quantizes_head: bool = False
    quantizes_experts: bool = True
    offloads_checkpoints: bool = False
    buckets_gb: float = 0.0


HUGGING_FACE = Stack()


@dataclass(frozen=True)
class Training:
    """
    One training step to estimate; sizes are tokens, samples and ranks.

    More than one of `gpus` share the model as FSDP does: each holds its part of the
    weights, gradients and optimizer states, and a batch of its own.

    `residual_fp32` None means what the stack does by default: PEFT's preparation for
    k-bit training upcasts norms and embeddings, and with them the hidden states;
    stacks with their own loss kernels (Unsloth, Axolotl, torchtune) do not.
    """

    architecture: Architecture
    method: Method
    sequence_length: int
    micro_batch: int = 1
    rank: int = 16
    targets: tuple[str, ...] = ALL_TARGETS
    trains_embeddings: bool = False
    gradient_checkpointing: bool = True
    optimizer: Optimizer = Optimizer.ADAMW
    loss_kernel: LossKernel = LossKernel.PLAIN
    attention: Attention = Attention.FLASH
    residual_fp32: bool | None = None
    accumulates_gradients: bool = False
    quantization: Quantization = Quantization.NF4_DOUBLE
    stack: Stack = HUGGING_FACE
    gpus: int = 1

    def __post_init__(self) -> None:
        if min(self.sequence_length, self.micro_batch, self.gpus) < 1:
            raise ValueError("A step has one sample of one token on one GPU at least.")
        if self.method is not Method.FULL and self.rank < 1:
            raise ValueError("An adapter has rank 1 at least.")

    @property
    def tokens(self) -> int:
        return self.sequence_length * self.micro_batch

    @property
    def has_fp32_residual(self) -> bool:
        if self.residual_fp32 is not None:
            return self.residual_fp32
        is_prepared = self.quantization in (Quantization.NF4, Quantization.NF4_DOUBLE)
        is_plain = self.loss_kernel is LossKernel.PLAIN
        return self.method is Method.QLORA and is_prepared and is_plain

    @property
    def has_fused_kernels(self) -> bool:
        return self.loss_kernel in (LossKernel.FAST, LossKernel.FUSED)
