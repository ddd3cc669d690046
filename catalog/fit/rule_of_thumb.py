from decimal import Decimal

# Bytes a parameter, and the share of the card that is counted, of the guides' table.
BYTES_PER_PARAMETER = {
    "qlora": Decimal("1.0"),
    "lora": Decimal("2.5"),
    "full": Decimal(16),
}
COUNTED_SHARE = Decimal("0.8")


def largest_model_b(*, memory_gb: Decimal | int, method: str) -> int:
    """
    Return the largest base model, in billions of parameters, that a card is good for.

    This is the guides' rule of thumb: 80 % of the memory at 1.0 (QLoRA), 2.5 (LoRA)
    or 16 bytes (full fine-tuning) a parameter, floored to 5, or to 1 below 10; QLoRA
    always to 5.

    :raises KeyError: if the method is not qlora, lora or full
    """
    usable = Decimal(memory_gb) * COUNTED_SHARE
    billions = usable / BYTES_PER_PARAMETER[method]
    step = 1 if billions < 10 and method != "qlora" else 5
    return int(billions) // step * step
