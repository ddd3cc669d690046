"""
Whether the job of a request fits its GPU: the planner's estimate, for one card.
"""

from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING

from catalog import fit
from money import round_half_up

if TYPE_CHECKING:
    from catalog.models import BaseModel, GpuModel
    from workspaces.models import Quote
    from workspaces.services.quotes import WantedWorkspace

DEFAULT_RANK = 16


@dataclass(frozen=True, kw_only=True)
class Job:
    """
    As much of a request as decides whether it fits.
    """

    base_model: "BaseModel"
    method: str
    sequence_length: int
    micro_batch: int
    lora_rank: int | None
    is_checkpointing: bool
    loss_kernel: str
    optimizer: str
    gpu: "GpuModel"


def fit_of(job: "Quote | WantedWorkspace | Job") -> tuple[str, Decimal]:
    """
    Return the verdict, and what is needed on each GPU in the cards' own GB.

    Several GPUs each hold a copy of the model: the estimate is that of one.
    """
    estimate = fit.estimate_memory(
        architecture=job.base_model.architecture(),
        method=job.method,
        sequence_length=job.sequence_length,
        micro_batch=job.micro_batch,
        rank=job.lora_rank or DEFAULT_RANK,
        gradient_checkpointing=job.is_checkpointing,
        loss_kernel=job.loss_kernel,
        optimizer=job.optimizer,
    )
    verdict = fit.verdict(
        estimate=estimate,
        memory_gb=float(job.gpu.process_gb),
        has_inline_ecc=job.gpu.has_inline_ecc,
    )
    needed = Decimal(str(fit.gib(estimate.needed_gb)))
    return verdict.fit.value, round_half_up(needed, 1)
