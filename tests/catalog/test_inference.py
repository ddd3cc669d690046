"""
Serving: every expected figure is worked out by hand beside it.

Llama 3.1 8B: 32 layers, 8 KV heads of 128, hidden 4096, MLP 14336, vocabulary 128256.
Matrices of a layer: 2 x 4096 x (4096 + 1024) + 3 x 4096 x 14336 = 218,103,808; of 32
layers 6,979,321,856. The rest of its 8,030,300,000 parameters: 1,050,978,144.
"""

import pytest

from catalog.fit import Architecture, Fit
from catalog.inference import (
    Precision,
    cache_bytes_per_token,
    largest_model_b,
    most_requests,
    read_bytes,
    serve,
    tokens_per_second,
    verdict,
    weight_bytes,
)

LLAMA = Architecture(
    hidden_size=4096,
    num_layers=32,
    num_heads=32,
    num_kv_heads=8,
    head_dim=128,
    intermediate_size=14336,
    vocab_size=128256,
    total_params_b=8.0303,
)
# Mixtral 8x7B: 8 experts of 14336, 2 of them for each token.
# Experts: 32 x 3 x 4096 x 8 x 14336 = 45,097,156,608.
MIXTRAL = Architecture(
    hidden_size=4096,
    num_layers=32,
    num_heads=32,
    num_kv_heads=8,
    head_dim=128,
    intermediate_size=14336,
    vocab_size=32000,
    total_params_b=46.7028,
    num_experts=8,
    experts_per_token=2,
    moe_intermediate_size=14336,
)


def test_a_token_keeps_a_key_and_a_value_in_every_layer():
    # 2 x 32 layers x 8 heads x 128 x 2 bytes
    assert cache_bytes_per_token(LLAMA) == 131_072
    assert cache_bytes_per_token(LLAMA, cache_bits=8) == 65_536


@pytest.mark.parametrize(
    ("precision", "expected"),
    [
        ("16", 2 * 6_979_321_856 + 2 * 1_050_978_144),
        ("8", 1.02 * 6_979_321_856 + 2 * 1_050_978_144),
        ("4", 0.52 * 6_979_321_856 + 2 * 1_050_978_144),
    ],
)
def test_weights_outside_the_layers_stay_in_16_bit(precision, expected):
    assert weight_bytes(LLAMA, precision=Precision(precision)) == pytest.approx(
        expected
    )


def test_reads_all_but_the_input_embedding():
    # 16,060,600,000 less 128256 x 4096 x 2 bytes
    assert (
        read_bytes(LLAMA, precision=Precision.SIXTEEN) == 16_060_600_000 - 1_050_673_152
    )


def test_reads_a_tied_embedding_because_it_is_the_output_head():
    tied = Architecture(**{**vars(LLAMA), "tie_word_embeddings": True})

    assert read_bytes(tied, precision=Precision.SIXTEEN) == 16_060_600_000


def test_reads_only_the_experts_that_a_token_passes_through():
    # 93,405,600,000 less the embedding and six eighths of the experts, 2 bytes each
    expected = 93_405_600_000 - 2 * 32000 * 4096 - 2 * 45_097_156_608 * 6 / 8

    assert read_bytes(MIXTRAL, precision=Precision.SIXTEEN) == expected


def test_needs_weights_cache_and_a_gigabyte():
    serving = serve(LLAMA, precision=Precision.SIXTEEN, context=8192, requests=8)

    # 131,072 x 8192 = 1,073,741,824 a request
    assert serving.cache_bytes == 8_589_934_592
    assert serving.needed_bytes == 16_060_600_000 + 8_589_934_592 + 10**9


def test_bandwidth_bounds_the_speed():
    one = serve(LLAMA, precision=Precision.SIXTEEN, context=8192, requests=1)
    eight = serve(LLAMA, precision=Precision.SIXTEEN, context=8192, requests=8)

    # 1008e9 / (15,009,926,848 + 1,073,741,824) = 62.67
    assert tokens_per_second(one, bandwidth_gbs=1008) == pytest.approx(62.67, abs=0.01)
    # 8 x 1008e9 / (15,009,926,848 + 8,589,934,592) = 341.70
    assert tokens_per_second(eight, bandwidth_gbs=1008) == pytest.approx(
        341.70, abs=0.01
    )


@pytest.mark.parametrize(
    ("usable", "expected"),
    [
        # needed: 18,134,341,824; it fits from 18,134,341,824 / 0.92 = 19,711,241,113 on
        (19_711_241_114, Fit.FITS),
        (19_711_241_112, Fit.TIGHT),
        (18_134_341_824, Fit.TIGHT),
        (18_134_341_823, Fit.NO),
    ],
)
def test_fits_within_what_a_server_takes(usable, expected):
    serving = serve(LLAMA, precision=Precision.SIXTEEN, context=8192, requests=1)

    assert verdict(serving, usable_bytes=usable) is expected


def test_counts_the_requests_that_fit():
    serving = serve(LLAMA, precision=Precision.SIXTEEN, context=8192, requests=1)

    # 25e9 x 0.92 - 16,060,600,000 - 1e9 = 5,939,400,000: 5.53 times 1,073,741,824
    assert most_requests(serving, usable_bytes=25e9) == 5
    assert most_requests(serving, usable_bytes=10e9) == 0


@pytest.mark.parametrize(
    ("memory", "sizes"),
    [
        # 19.2 GB: 9.6, 19.2, 32 billion
        (24, [9, 15, 30]),
        # 38.4 GB: 19.2, 38.4, 64 billion
        (48, [15, 35, 60]),
        # 64 GB: 32, 64, 106.7 billion
        (80, [30, 60, 105]),
    ],
)
def test_rule_of_thumb(memory, sizes):
    found = [largest_model_b(memory_gb=memory, precision=p) for p in Precision]

    assert found == sizes
