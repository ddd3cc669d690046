"""
What the training frameworks do by default, as far as it decides about memory.

Each default is one that the framework documents; MEMORY.md has the measurements.
"""

from dataclasses import dataclass, replace

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from catalog.fit import HUGGING_FACE, LossKernel, Optimizer, Stack
from catalog.measurements import LITGPT, UNSLOTH


@dataclass(frozen=True, kw_only=True)
class Framework:
    """
    One way to run a fine-tune; `residual_fp32` None follows from method and loss.

    `is_measured` says that dense models were measured on it widely enough.
    """

    name: str
    note: str | Promise
    stack: Stack
    loss: LossKernel = LossKernel.PLAIN
    optimizer: Optimizer = Optimizer.ADAMW
    residual_fp32: bool | None = None
    accumulates_gradients: bool = False
    is_measured: bool = False


FRAMEWORKS: dict[str, Framework] = {
    "huggingface": Framework(
        name="Hugging Face, PEFT",
        note=_(
            "TRL, LLaMA-Factory and most scripts. fp32 adapters; QLoRA's preparation"
            " keeps hidden states in fp32."
        ),
        stack=HUGGING_FACE,
        is_measured=True,
    ),
    "unsloth": Framework(
        name="Unsloth",
        note=_("Fused loss, checkpoints kept on the CPU, 8-bit AdamW, 16-bit states."),
        stack=UNSLOTH,
        loss=LossKernel.FUSED,
        optimizer=Optimizer.ADAMW_8BIT,
        residual_fp32=False,
    ),
    "axolotl": Framework(
        name="Axolotl",
        note=_("Hugging Face underneath, with hidden states left in 16 bit."),
        stack=HUGGING_FACE,
        residual_fp32=False,
    ),
    "torchtune": Framework(
        name="torchtune",
        note=_("All in bf16, adapters too; the loss in chunks, the fused AdamW."),
        stack=replace(HUGGING_FACE, adapters_are_fp32=False),
        loss=LossKernel.CHUNKED,
        optimizer=Optimizer.ADAMW_FUSED,
        residual_fp32=False,
        is_measured=True,
    ),
    "litgpt": Framework(
        name="LitGPT",
        note=_("All in bf16; the loss in chunks, gradients gathered over steps."),
        stack=LITGPT,
        loss=LossKernel.CHUNKED_16BIT,
        residual_fp32=False,
        accumulates_gradients=True,
        is_measured=True,
    ),
}
