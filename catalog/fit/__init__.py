"""
Does a fine-tuning run fit a card? Pure: no database, no clock.

`largest_model_b` is the guides' rule of thumb, `estimate_memory` the estimator that
the planner uses, `verdict` and `levers` hold an estimate against a card.
"""

from .architecture import ALL_TARGETS, ATTENTION_TARGETS, Architecture
from .memory import MemoryEstimate, MemoryPart, Part, estimate, estimate_memory, gib
from .parameters import count_parameters
from .rule_of_thumb import largest_model_b
from .training import (
    HUGGING_FACE,
    Attention,
    LossKernel,
    Method,
    Optimizer,
    Quantization,
    Stack,
    Training,
)
from .verdicts import (
    CHANGE_NAMES,
    INLINE_ECC_SHARE,
    Change,
    Fit,
    Lever,
    Verdict,
    alternatives,
    levers,
    usable_gb,
    verdict,
)

__all__ = [
    "ALL_TARGETS",
    "ATTENTION_TARGETS",
    "CHANGE_NAMES",
    "HUGGING_FACE",
    "INLINE_ECC_SHARE",
    "Architecture",
    "Attention",
    "Change",
    "Fit",
    "Lever",
    "LossKernel",
    "MemoryEstimate",
    "MemoryPart",
    "Method",
    "Optimizer",
    "Part",
    "Quantization",
    "Stack",
    "Training",
    "Verdict",
    "alternatives",
    "count_parameters",
    "estimate",
    "estimate_memory",
    "gib",
    "largest_model_b",
    "levers",
    "usable_gb",
    "verdict",
]
