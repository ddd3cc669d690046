"""
What serving a language model takes: memory, and the speed that bandwidth allows. Pure.

Two things fill the card: the weights, and the cache of keys and values (KV cache) that
each request keeps for every token of its context. Each new token needs all of it read
once, which is why bandwidth bounds the speed: a server that reads nothing twice and
waits for nothing else would reach the bound. Real ones stay below.
"""

from dataclasses import dataclass
from enum import StrEnum

from catalog.fit import Architecture, Fit

# What the server keeps besides: context of the driver, buffers, activations.
OVERHEAD_BYTES = 10**9
# vLLM takes 92 % of a card unless it is told otherwise; above that it is tight.
SERVER_SHARE = 0.92
# Bytes a weight of the decoder's matrices: 4 and 8 bit have scales beside them. The
# embedding, the output head and the norms stay in 16 bit.
LINEAR_BYTES = {"16": 2.0, "8": 1.02, "4": 0.52}
REST_BYTES = 2.0
# The guide's rule of thumb: bytes a parameter over 80 % of the memory; a fifth is left
# to the cache.
THUMB_BYTES = {"16": 2.0, "8": 1.0, "4": 0.6}
THUMB_SHARE = 0.8


class Precision(StrEnum):
    SIXTEEN = "16"
    EIGHT = "8"
    FOUR = "4"


@dataclass(frozen=True, kw_only=True)
class Serving:
    """
    A model with its requests at work; all in bytes.

    `read_bytes` is what one step reads of the weights: each request gets one token.
    """

    weight_bytes: float
    read_bytes: float
    cache_bytes_per_request: int
    requests: int

    @property
    def cache_bytes(self) -> int:
        return self.cache_bytes_per_request * self.requests

    @property
    def needed_bytes(self) -> float:
        return self.weight_bytes + self.cache_bytes + OVERHEAD_BYTES


def cache_bytes_per_token(architecture: Architecture, *, cache_bits: int = 16) -> int:
    """
    Return what one token of context keeps: a key and a value in every layer.

    2 x layers x key and value heads x head dimension x bytes a number. Sliding windows
    keep less than this.
    """
    numbers = 2 * architecture.num_layers * architecture.key_size
    return numbers * cache_bits // 8


def weight_bytes(architecture: Architecture, *, precision: Precision) -> float:
    linear = architecture.linear * LINEAR_BYTES[precision]
    return linear + architecture.rest * REST_BYTES


def read_bytes(architecture: Architecture, *, precision: Precision) -> float:
    """
    Return what one step reads of the weights, at the least.

    An embedding that is not the output head too is looked up, not read; of the experts
    only those are read that one token passes through.
    """
    unread = 0 if architecture.tie_word_embeddings else architecture.embedding
    idle = 0.0
    if architecture.num_experts:
        share = architecture.experts_per_token / architecture.num_experts
        idle = architecture.experts * (1 - share)
    everything = weight_bytes(architecture, precision=precision)
    return everything - unread * REST_BYTES - idle * LINEAR_BYTES[precision]


def serve(
    architecture: Architecture,
    *,
    precision: Precision,
    context: int,
    requests: int,
    cache_bits: int = 16,
) -> Serving:
    """
    Return what a model needs for `requests` at once with `context` tokens each.
    """
    per_token = cache_bytes_per_token(architecture, cache_bits=cache_bits)
    return Serving(
        weight_bytes=weight_bytes(architecture, precision=precision),
        read_bytes=read_bytes(architecture, precision=precision),
        cache_bytes_per_request=per_token * context,
        requests=requests,
    )


def verdict(serving: Serving, *, usable_bytes: float) -> Fit:
    """
    Say whether it fits a card: within what a server takes by default, or just about.
    """
    if serving.needed_bytes <= usable_bytes * SERVER_SHARE:
        return Fit.FITS
    return Fit.TIGHT if serving.needed_bytes <= usable_bytes else Fit.NO


def most_requests(serving: Serving, *, usable_bytes: float) -> int:
    """
    Return how many such requests a card holds at once, within the server's share.
    """
    room = usable_bytes * SERVER_SHARE - serving.weight_bytes - OVERHEAD_BYTES
    return max(int(room // serving.cache_bytes_per_request), 0)


def tokens_per_second(serving: Serving, *, bandwidth_gbs: float) -> float:
    """
    Return how many tokens a second bandwidth allows, over all requests together.

    One step reads the weights and every request's cache, and gives one token each:
    requests x bandwidth / (weights read + cache).
    """
    step = serving.read_bytes + serving.cache_bytes
    return serving.requests * bandwidth_gbs * 10**9 / step


def largest_model_b(*, memory_gb: float, precision: Precision) -> int:
    """
    Return the largest model, in billions of parameters, that a card serves with ease.

    The rule of thumb: 80 % of the memory for weights of 2, 1 or 0.6 bytes a parameter
    (16, 8 and 4 bit), floored to 5, or to 1 below 10.
    """
    billions = memory_gb * THUMB_SHARE / THUMB_BYTES[precision]
    step = 1 if billions < 10 else 5
    return int(billions + 1e-9) // step * step
