from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from . import memory
from .memory import GB, GIB, MemoryEstimate
from .training import LossKernel, Method, Optimizer, Training

# A card holds what it is sold with in 2^30 bytes, less 1 to 2 % for the driver.
DRIVER_SHARE = 0.015
# GDDR6 cards with ECC switched on keep a sixteenth for the check bits (A10G, L40S).
INLINE_ECC_SHARE = 1 / 16
SHORTEST_USEFUL = 256


class Fit(StrEnum):
    FITS = "fits"
    TIGHT = "tight"
    NO = "no"


FIT_NAMES: dict[Fit, Promise] = {
    Fit.FITS: _("Fits"),
    Fit.TIGHT: _("Tight"),
    Fit.NO: _("Does not fit"),
}


@dataclass(frozen=True)
class Verdict:
    """
    Whether an estimate fits a card that holds `usable_gb`, in 1e9 bytes.

    `spare_gb` is what is left of it above the needed figure, negative if it is short.
    """

    fit: Fit
    usable_gb: float
    spare_gb: float

    @property
    def name(self) -> Promise:
        return FIT_NAMES[self.fit]


class Change(StrEnum):
    FUSED_LOSS = "fused_loss"
    CHECKPOINTING = "checkpointing"
    EIGHT_BIT_OPTIMIZER = "eight_bit_optimizer"
    SMALLER_BATCH = "smaller_batch"
    SHORTER_SEQUENCE = "shorter_sequence"
    LORA = "lora"
    QLORA = "qlora"


CHANGE_NAMES: dict[Change, Promise] = {
    Change.FUSED_LOSS: _("a fused loss kernel"),
    Change.CHECKPOINTING: _("gradient checkpointing"),
    Change.EIGHT_BIT_OPTIMIZER: _("an 8-bit optimizer"),
    Change.SMALLER_BATCH: _("a smaller micro-batch"),
    Change.SHORTER_SEQUENCE: _("shorter sequences"),
    Change.LORA: _("LoRA instead of full fine-tuning"),
    Change.QLORA: _("QLoRA, with a 4-bit base model"),
}


@dataclass(frozen=True)
class Lever:
    """
    A single change that makes a training fit, and what is then needed.
    """

    change: Change
    estimate: MemoryEstimate
    verdict: Verdict

    @property
    def name(self) -> Promise:
        return CHANGE_NAMES[self.change]


def usable_gb(*, memory_gb: float, has_inline_ecc: bool = False) -> float:
    """
    Return what a card sold with `memory_gb` holds, in 1e9 bytes.
    """
    ecc = INLINE_ECC_SHARE if has_inline_ecc else 0
    return memory_gb * GIB / GB * (1 - ecc) * (1 - DRIVER_SHARE)


def verdict(
    *, estimate: MemoryEstimate, memory_gb: float, has_inline_ecc: bool = False
) -> Verdict:
    """
    Say whether an estimate fits a card sold with `memory_gb`.

    It fits if the wide figure does, and does not if even the needed one does not;
    between them it is tight.
    """
    usable = usable_gb(memory_gb=memory_gb, has_inline_ecc=has_inline_ecc)
    if estimate.wide_gb <= usable:
        fit = Fit.FITS
    elif estimate.needed_gb <= usable:
        fit = Fit.TIGHT
    else:
        fit = Fit.NO
    return Verdict(fit, usable, usable - estimate.needed_gb)


def alternatives(training: Training) -> dict[Change, list[MemoryEstimate]]:
    """
    Estimate what each single change leads to, those first that give up least.

    Kernels and settings come before what changes the training itself.
    """
    return {
        change: [memory.estimate(changed) for changed in trainings]
        for change, trainings in _changes(training).items()
    }


def levers(
    *,
    estimate: MemoryEstimate,
    memory_gb: float,
    has_inline_ecc: bool = False,
    changes: Mapping[Change, Sequence[MemoryEstimate]] | None = None,
) -> list[Lever]:
    """
    List the single changes after which a training fits a card, or is tight at least.

    A change that does not help, or not enough, is not listed; nothing is if it fits
    already. Who asks for many cards gives `changes`: the `alternatives` are the same.
    """
    ranks = list(Fit)

    def judge(estimate: MemoryEstimate) -> Verdict:
        return verdict(
            estimate=estimate, memory_gb=memory_gb, has_inline_ecc=has_inline_ecc
        )

    now = ranks.index(judge(estimate).fit)
    if changes is None:
        changes = alternatives(estimate.training)
    found = []
    for change, estimates in changes.items():
        judged = [(changed, judge(changed)) for changed in estimates]
        # The first that fits is the one that gives up least; tight is better than no.
        judged.sort(key=lambda pair: ranks.index(pair[1].fit))
        if judged and ranks.index(judged[0][1].fit) < now:
            found.append(Lever(change, *judged[0]))
    return found


def _changes(training: Training) -> dict[Change, list[Training]]:
    """
    Return the trainings that each change leads to, those that give up least first.
    """
    is_full = training.method is Method.FULL
    trainings: dict[Change, list[Training]] = {
        Change.FUSED_LOSS: [replace(training, loss_kernel=LossKernel.FUSED)],
        Change.CHECKPOINTING: [replace(training, gradient_checkpointing=True)],
        Change.EIGHT_BIT_OPTIMIZER: [replace(training, optimizer=Optimizer.ADAMW_8BIT)],
        Change.SMALLER_BATCH: [
            replace(training, micro_batch=size)
            for size in _halves(training.micro_batch, 1)
        ],
        Change.SHORTER_SEQUENCE: [
            replace(training, sequence_length=length)
            for length in _halves(training.sequence_length, SHORTEST_USEFUL)
        ],
        Change.QLORA: [replace(training, method=Method.QLORA)],
        Change.LORA: [replace(training, method=Method.LORA)] if is_full else [],
    }
    return {
        change: [changed for changed in options if changed != training]
        for change, options in trainings.items()
    }


def _halves(size: int, least: int) -> Iterator[int]:
    while (size := size // 2) >= least:
        yield size
