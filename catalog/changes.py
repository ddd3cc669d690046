"""
What to change in a fine-tune so that it fits a card: each change is one link.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from urllib.parse import urlencode

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

import formats
from catalog import fit
from catalog.fit import Change, MemoryEstimate, Training
from catalog.models import GpuModel

GPU_COUNTS = (1, 2, 4, 8)
# Changes that leave the training itself as it is.
SETTINGS = (Change.FUSED_LOSS, Change.CHECKPOINTING, Change.EIGHT_BIT_OPTIMIZER)
# What a setting has to save before it is worth a sentence.
WORTH_SAYING = 0.9
SHOWN = 3
SHORT_NAMES = {
    Change.FUSED_LOSS: gettext_lazy("fused loss"),
    Change.CHECKPOINTING: gettext_lazy("checkpointing"),
    Change.EIGHT_BIT_OPTIMIZER: gettext_lazy("8-bit optimizer"),
    Change.LORA: "LoRA",
    Change.QLORA: "QLoRA",
}


@dataclass(frozen=True, kw_only=True)
class Option:
    """
    One change, as a link; memory is in the cards' own GB.

    `query` is the whole state after it, `is_provisional` says that it is not yet held
    against enough measurements.
    """

    label: str
    needed_gb: Decimal
    verdict: fit.Fit
    query: str
    is_provisional: bool = False


@dataclass(frozen=True, kw_only=True)
class Advice:
    """
    The setting that saves most, and the smallest card that then holds the fine-tune.
    """

    label: str
    needed_gb: Decimal
    card_gb: Decimal | None
    query: str


class Changes:
    """
    The changes of one training, estimated once and held against every card.
    """

    def __init__(
        self, training: Training, estimate: MemoryEstimate, state: Mapping[str, str]
    ) -> None:
        self.estimate = estimate
        self.state = state
        self.alternatives = fit.alternatives(training)
        self.queries: dict[tuple[Change, int, int], str] = {}
        self.shared = {
            count: fit.estimate(replace(training, gpus=count))
            for count in GPU_COUNTS
            if count > training.gpus
        }

    def for_card(self, gpu: GpuModel) -> list[Option]:
        """
        Return the first changes that make it fit this card, or be tight at least.
        """
        levers = fit.levers(
            estimate=self.estimate,
            memory_gb=float(gpu.process_gb),
            has_inline_ecc=gpu.has_inline_ecc,
            changes=self.alternatives,
        )
        options = [self._option(lever) for lever in levers][:SHOWN]
        return [*options, *self._on_more(gpu)]

    def advice(self, gpus: list[GpuModel]) -> Advice | None:
        """
        Return the setting that saves most, if one saves a tenth or more.
        """
        changed = {
            change: self.alternatives[change][0]
            for change in SETTINGS
            if self.alternatives[change]
        }
        if not changed:
            return None
        change = min(changed, key=lambda change: changed[change].needed_gb)
        estimate = changed[change]
        if estimate.needed_gb > WORTH_SAYING * self.estimate.needed_gb:
            return None
        holding = [
            gpu.memory_gb for gpu in gpus if judge(estimate, gpu) is fit.Fit.FITS
        ]
        return Advice(
            label=str(fit.CHANGE_NAMES[change]),
            needed_gb=card_gb(estimate.needed_gb),
            card_gb=min(holding, default=None),
            query=self._query(change, estimate.training),
        )

    def _option(self, lever: fit.Lever) -> Option:
        training = lever.estimate.training
        return Option(
            label=_label(lever),
            needed_gb=card_gb(lever.estimate.needed_gb),
            verdict=lever.verdict.fit,
            query=self._query(lever.change, training),
        )

    def _on_more(self, gpu: GpuModel) -> Iterator[Option]:
        """
        Yield the least number of these cards that hold it together.
        """
        for count, estimate in self.shared.items():
            found = judge(estimate, gpu)
            if found is not fit.Fit.NO:
                label = ngettext("%(count)s GPU", "%(count)s GPUs", count)
                yield Option(
                    label=label % {"count": count},
                    needed_gb=card_gb(estimate.needed_gb),
                    verdict=found,
                    query=urlencode({**self.state, "gpus": count}),
                    is_provisional=True,
                )
                return

    def _query(self, change: Change, training: Training) -> str:
        """
        Return the whole state after a change: it is the same for many cards.
        """
        key = (change, training.micro_batch, training.sequence_length)
        if key not in self.queries:
            self.queries[key] = urlencode({**self.state, **_changed(change, training)})
        return self.queries[key]


def _changed(change: Change, training: Training) -> dict[str, str | int]:
    changed: dict[Change, dict[str, str | int]] = {
        Change.FUSED_LOSS: {"loss": "fused"},
        Change.CHECKPOINTING: {"checkpointing": "on"},
        Change.EIGHT_BIT_OPTIMIZER: {"optimizer": "adamw_8bit"},
        Change.SMALLER_BATCH: {"micro_batch": training.micro_batch},
        Change.SHORTER_SEQUENCE: {"sequence_length": training.sequence_length},
        Change.LORA: {"method": "lora"},
        Change.QLORA: {"method": "qlora"},
    }
    return changed[change]


def judge(estimate: MemoryEstimate, gpu: GpuModel) -> fit.Fit:
    """
    Say whether an estimate fits a GPU of the catalog.
    """
    return fit.verdict(
        estimate=estimate,
        memory_gb=float(gpu.process_gb),
        has_inline_ecc=gpu.has_inline_ecc,
    ).fit


def card_gb(gb: float) -> Decimal:
    """
    Convert 1e9 bytes to the GB that cards are sold in, 2^30 bytes.
    """
    return Decimal(repr(fit.gib(gb)))


def _label(lever: fit.Lever) -> str:
    training, language = lever.estimate.training, formats.language()
    if lever.change is Change.SHORTER_SEQUENCE:
        length = formats.number(training.sequence_length, language)
        return _("%(length)s tokens") % {"length": length}
    if lever.change is Change.SMALLER_BATCH:
        size = formats.number(training.micro_batch, language)
        return _("micro-batch %(size)s") % {"size": size}
    return str(SHORT_NAMES[lever.change])
