"""
How much storage a recipe needs at the very least; pure.
"""

from decimal import ROUND_CEILING, Decimal

# Weights in 16 bits: two bytes a parameter, so two GB for a billion of them.
GB_PER_BILLION = Decimal(2)


def least_storage_gb(*, params_b: Decimal, method: str, checkpoints_kept: int) -> int:
    """
    Return the GB that the model and its kept checkpoints take, without optimizer state.

    `params_b` is in billions. Adapters are small beside the model and not counted.
    """
    weights = params_b * GB_PER_BILLION
    checkpoints = weights * checkpoints_kept if method == "full" else Decimal(0)
    return int((weights + checkpoints).to_integral_value(rounding=ROUND_CEILING))
