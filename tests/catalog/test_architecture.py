"""
The shapes of models: one with a compressed attention, and one written by hand.
"""

from decimal import Decimal

from catalog.fit import (
    Architecture,
)
from catalog.measurements import architectures

SHAPES = architectures()


def test_a_model_of_compressed_attention_has_no_negative_rest():
    shape = SHAPES["deepseek-ai/DeepSeek-V3"]

    assert shape.linear + shape.rest == shape.parameters
    assert shape.rest >= shape.embedding


def test_an_architecture_can_be_written_by_hand():
    tiny = Architecture(
        hidden_size=64,
        num_layers=2,
        num_heads=4,
        num_kv_heads=4,
        head_dim=16,
        intermediate_size=128,
        vocab_size=1000,
        # 2 x (4 x 64 x 64 + 3 x 64 x 128) + 64 x 1000
        total_params_b=Decimal("0.00014592"),
        tie_word_embeddings=True,
    )

    assert tiny.linear == 81_920
    assert tiny.rest == 64_000
