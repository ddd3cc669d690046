"""
Which card holds what: the rule of thumb of the guides, the verdict, and the levers.

Expected values come from the seed pages and MEMORY.md or are worked out by hand.
"""

from decimal import Decimal

import pytest

from catalog.fit import (
    Change,
    Fit,
    estimate_memory,
    gib,
    largest_model_b,
    levers,
    usable_gb,
    verdict,
)
from catalog.measurements import architectures

SHAPES = architectures()
LLAMA_70B = "meta-llama/Llama-3.3-70B-Instruct"
LLAMA_8B = "meta-llama/Meta-Llama-3.1-8B"


def estimated(model, method, **wanted):
    return estimate_memory(
        architecture=SHAPES[model],
        method=method,
        **({"sequence_length": 2048} | wanted),
    )


@pytest.mark.parametrize(
    ("card", "memory_gb", "qlora", "lora"),
    [
        ("RTX 4090", 24, 15, 7),
        ("RTX 5090", 32, 25, 10),
        ("RTX A6000", 48, 35, 15),
        ("L40S", 48, 35, 15),
        ("RTX 6000 Ada", 48, 35, 15),
        ("A100 SXM", 80, 60, 25),
        ("H100 SXM", 80, 60, 25),
        ("RTX PRO 6000 Blackwell", 96, 75, 30),
        ("H200", 141, 110, 45),
    ],
)
def test_rule_of_thumb_gives_the_table_of_the_guides(card, memory_gb, qlora, lora):
    assert largest_model_b(memory_gb=memory_gb, method="qlora") == qlora
    assert largest_model_b(memory_gb=Decimal(memory_gb), method="lora") == lora


@pytest.mark.parametrize(
    ("memory_gb", "full"),
    # 0.8 x memory / 16: 1.2, 4.0, 7.05 and 14.4 billion.
    [(24, 1), (80, 4), (141, 7), (288, 10)],
)
def test_rule_of_thumb_for_full_fine_tuning(memory_gb, full):
    assert largest_model_b(memory_gb=memory_gb, method="full") == full


@pytest.mark.parametrize(
    ("memory_gb", "has_inline_ecc", "gib_usable"),
    [
        # What torch reports on such cards.
        (80, False, 79.15),
        (24, False, 23.65),
        (24, True, 22.06),
    ],
)
def test_what_a_card_holds(memory_gb, has_inline_ecc, gib_usable):
    usable = usable_gb(memory_gb=memory_gb, has_inline_ecc=has_inline_ecc)

    assert gib(usable) == pytest.approx(gib_usable, rel=0.01)


@pytest.mark.parametrize(
    ("memory_gb", "expected"),
    # Llama 3.1 8B, QLoRA at 8,192 tokens: needs 27.5 GiB, up to 33.0.
    [(24, Fit.NO), (32, Fit.TIGHT), (48, Fit.FITS), (80, Fit.FITS)],
)
def test_verdict_has_three_states(memory_gb, expected):
    estimate = estimated(LLAMA_8B, "qlora", sequence_length=8192)

    judged = verdict(estimate=estimate, memory_gb=memory_gb)

    assert judged.fit is expected
    assert (judged.spare_gb < 0) == (expected is Fit.NO)


def test_a_fused_loss_makes_it_fit():
    # The planner's example: 27.5 GiB are too much for 24, a fused loss needs 10.9.
    estimate = estimated(LLAMA_8B, "qlora", sequence_length=8192)

    found = {lever.change: lever for lever in levers(estimate=estimate, memory_gb=24)}

    assert list(found) == [Change.FUSED_LOSS, Change.SHORTER_SEQUENCE]
    fused = found[Change.FUSED_LOSS]
    assert gib(fused.estimate.needed_gb) == pytest.approx(10.9, abs=0.1)
    assert fused.verdict.fit is Fit.FITS
    assert found[Change.SHORTER_SEQUENCE].estimate.training.sequence_length == 4096


def test_levers_of_a_full_fine_tune():
    # 8 B needs 75.8 GiB with AdamW, about 46 in 8 bit; adapters need 20.7 or less.
    estimate = estimated(LLAMA_8B, "full", micro_batch=2)

    changes = [lever.change for lever in levers(estimate=estimate, memory_gb=64)]

    assert changes == [Change.EIGHT_BIT_OPTIMIZER, Change.QLORA, Change.LORA]


def test_checkpointing_and_a_smaller_batch_are_levers():
    estimate = estimated(LLAMA_8B, "lora", micro_batch=8, gradient_checkpointing=False)

    found = {
        lever.change: lever.estimate.training
        for lever in levers(estimate=estimate, memory_gb=80)
    }

    assert Change.CHECKPOINTING in found
    assert found[Change.SMALLER_BATCH].micro_batch == 2


def test_what_fits_needs_no_lever():
    estimate = estimated(LLAMA_8B, "qlora")

    assert levers(estimate=estimate, memory_gb=80) == []


def test_no_single_change_brings_70_billion_onto_a_small_card():
    estimate = estimated(LLAMA_70B, "qlora")

    assert levers(estimate=estimate, memory_gb=24) == []
