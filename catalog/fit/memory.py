from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, TypedDict, Unpack

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from . import terms
from .architecture import ALL_TARGETS, Architecture
from .training import (
    Attention,
    LossKernel,
    Method,
    Optimizer,
    Quantization,
    Stack,
    Training,
)

GB = 1e9
GIB = 2**30
CONTEXT_GB = 1.0
# What the allocator keeps cached of the transient when nothing else is known.
STEADY_CACHE = 0.38


class Part(StrEnum):
    WEIGHTS = "weights"
    ADAPTERS = "adapters"
    GRADIENTS = "gradients"
    KEPT = "kept"
    LOSS = "loss"
    LAYER = "layer"
    CONTEXT = "context"
    CACHE = "cache"


PART_NAMES: dict[Part, Promise] = {
    Part.WEIGHTS: _("Base model"),
    Part.ADAPTERS: _("Adapters with gradients and optimizer"),
    Part.GRADIENTS: _("Gradients and optimizer"),
    Part.KEPT: _("Kept activations"),
    Part.LOSS: _("Loss peak"),
    Part.LAYER: _("Layer peak"),
    Part.CONTEXT: _("CUDA context"),
    Part.CACHE: _("Cache"),
}


@dataclass(frozen=True)
class MemoryPart:
    part: Part
    gb: float

    @property
    def name(self) -> Promise:
        return PART_NAMES[self.part]


@dataclass(frozen=True)
class MemoryEstimate:
    """
    The peak memory of one card; figures named `_gb` are 1e9 bytes.

    `allocated_gb` is what tensors hold, `needed_gb` adds the CUDA context, `wide_gb`
    what nvidia-smi may read, with the allocator's cache. The parts add up to the wide
    figure.
    """

    training: Training
    allocated_gb: float
    needed_gb: float
    wide_gb: float
    parts: tuple[MemoryPart, ...]


def gib(gb: float) -> float:
    """
    Convert 1e9 bytes to 2^30 bytes, the GB that cards are sold in.
    """
    return gb * GB / GIB


class Settings(TypedDict, total=False):
    """
    What may be said of a training besides its model, method and length, by name.
    """

    micro_batch: int
    rank: int
    targets: str | Iterable[str]
    trains_embeddings: bool
    gradient_checkpointing: bool
    optimizer: str
    loss_kernel: str
    attention: str
    residual_fp32: bool | None
    accumulates_gradients: bool
    quantization: str
    stack: Stack
    gpus: int


def estimate_memory(
    *,
    architecture: Architecture,
    method: str,
    sequence_length: int,
    **settings: Unpack[Settings],
) -> MemoryEstimate:
    """
    Estimate the peak memory of one fine-tuning step on one card.

    Left out, settings are those of `Training`: Hugging Face with PEFT, rank 16 on all
    matrices, checkpointing, AdamW, a plain loss. `targets` are adapted matrices, also
    as "all" or "q,k,v,o"; `residual_fp32` None is what the stack does by default. With
    several `gpus` the figure is that of each of them under FSDP; it is provisional.

    :raises ValueError: if a name is unknown, or a size is below 1
    """
    named: dict[str, Any] = {
        name: READERS[name](value) if name in READERS else value
        for name, value in settings.items()
    }
    return estimate(
        Training(
            architecture=architecture,
            method=Method(method),
            sequence_length=sequence_length,
            **named,
        )
    )


def estimate(training: Training) -> MemoryEstimate:
    """
    Estimate the peak memory of a training: the largest of its phases.
    """
    activations = _Activations.of(training)
    weights = terms.weights(training)
    phases = [
        phase.shared_by(training.gpus)
        for phase in _phases(training, weights, activations)
    ]
    largest = max(phases, key=lambda phase: phase.allocated)
    wide = max(phase.allocated + phase.cache for phase in phases)
    return MemoryEstimate(
        training=training,
        allocated_gb=largest.allocated / GB,
        needed_gb=largest.allocated / GB + CONTEXT_GB,
        wide_gb=wide / GB + CONTEXT_GB,
        parts=(
            MemoryPart(Part.WEIGHTS, largest.weights / GB),
            MemoryPart(_states_part(training), largest.states / GB),
            MemoryPart(Part.KEPT, largest.kept / GB),
            MemoryPart(activations.winner, largest.peak / GB),
            MemoryPart(Part.CONTEXT, CONTEXT_GB),
            MemoryPart(Part.CACHE, (wide - largest.allocated) / GB),
        ),
    )


@dataclass(frozen=True)
class _Activations:
    """
    Activations in bytes: kept until the backward pass reads them, and the peak.

    With checkpointing the loss is over when a layer is computed again, so the larger
    of the two counts. Without, all layers are kept while the loss is computed. Cached
    blocks come from what is allocated and freed within a step, the transient; layers
    that are kept are not part of it.
    """

    kept: float
    peak: float
    transient: float
    winner: Part

    @classmethod
    def of(cls, training: Training) -> "_Activations":
        loss, layer = terms.loss_peak(training), terms.layer_peak(training)
        if not training.gradient_checkpointing:
            kept = terms.kept_layers(training)
            return cls(kept, loss, loss + layer, Part.LOSS)
        peak = max(loss, layer)
        winner = Part.LOSS if loss > layer else Part.LAYER
        return cls(terms.checkpoints(training), peak, peak, winner)


@dataclass(frozen=True)
class _Phase:
    """
    One phase of a step, in bytes; `gathered` is what several cards each hold whole.
    """

    weights: float
    states: float
    kept: float
    peak: float
    cache: float
    gathered: float = 0

    @property
    def allocated(self) -> float:
        return self.weights + self.states + self.kept + self.peak

    def shared_by(self, gpus: int) -> "_Phase":
        """
        Return the phase on one of the cards that share weights and states.
        """
        if gpus == 1:
            return self
        weights = self.weights / gpus + self.gathered
        return replace(self, weights=weights, states=self.states / gpus)


def _phases(
    training: Training, weights: float, activations: _Activations
) -> list[_Phase]:
    """
    List the phases in which the peak can be: the backward pass, the optimizer's step.
    """
    cache_factor = training.stack.cache_factor
    backward = _Phase(
        weights=weights,
        states=_backward_states(training, weights),
        kept=activations.kept,
        peak=activations.peak + terms.dequantized(training),
        cache=cache_factor * activations.transient,
        gathered=terms.gathered(training),
    )
    step = _Phase(
        weights=weights,
        states=_step_states(training, weights),
        kept=0,
        peak=0,
        cache=min(cache_factor, STEADY_CACHE) * activations.transient,
    )
    return [backward, step]


def _backward_states(training: Training, weights: float) -> float:
    buckets = training.stack.buckets_gb * GB
    if training.method is not Method.FULL:
        copies = 8 * terms.trained_embeddings(training)
        return terms.adapters(training) + copies + buckets
    phases = terms.FULL_PHASES[training.optimizer]
    size = phases.backward - 2
    if training.accumulates_gradients:
        size += phases.gradient
    parameters = weights / 2
    return size * parameters + terms.layer_gradients(training) + buckets


def _step_states(training: Training, weights: float) -> float:
    buckets = training.stack.buckets_gb * GB
    if training.method is not Method.FULL:
        copies = 10 * terms.trained_embeddings(training)
        return terms.adapters(training) + copies + buckets
    phases = terms.FULL_PHASES[training.optimizer]
    size = phases.step - 2
    if training.accumulates_gradients and training.optimizer is Optimizer.ADAMW_MASTER:
        size += phases.gradient
    return size * weights / 2 + terms.layer_gradients(training) + buckets


def _states_part(training: Training) -> Part:
    return Part.GRADIENTS if training.method is Method.FULL else Part.ADAPTERS


def _targets(targets: str | Iterable[str]) -> tuple[str, ...]:
    if targets == "all":
        return ALL_TARGETS
    names = targets.split(",") if isinstance(targets, str) else targets
    return tuple(names)


READERS: dict[str, Callable[[Any], Any]] = {
    "targets": _targets,
    "optimizer": Optimizer,
    "loss_kernel": LossKernel,
    "attention": Attention,
    "quantization": Quantization,
}
