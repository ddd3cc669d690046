"""
What a GPU-hour buys: its price by the memory and by the bandwidth that come with it.

Both are for comparing, not for paying: they are rounded half up where they are made.
"""

from decimal import Decimal

from djmoney.money import Money

from catalog.models import GpuModel
from money import round_half_up

GB_PLACES = 4
TBS_PLACES = 2
GBS_PER_TBS = 1000


def price_per_gb(rate: Money, gpu: GpuModel) -> Money:
    """
    Return what one GB of the GPU's memory costs an hour.
    """
    return _divided(rate, gpu.memory_gb, GB_PLACES)


def price_per_tbs(rate: Money, gpu: GpuModel) -> Money:
    """
    Return what one TB/s of the GPU's memory bandwidth costs an hour.
    """
    return _divided(rate, Decimal(gpu.bandwidth_gbs) / GBS_PER_TBS, TBS_PLACES)


def _divided(rate: Money, by: Decimal, places: int) -> Money:
    return Money(round_half_up(rate.amount / by, places), rate.currency)
