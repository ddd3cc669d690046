"""
How amounts are rounded, split, read and handed to payment providers.

An amount is a Decimal (or a Money) from the first to the last line: a float is
refused, because 1.15 as a float is a little less than 1.15. Rounding is half up, away
from zero, and is done where an amount is posted or shown, never in between.
"""

import re
from decimal import ROUND_HALF_UP, Decimal

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from djmoney.money import Currency, Money

CENT = Decimal("0.01")
CURRENCY_SIGNS = ("US$", "$", "€", "£", "USD", "EUR", "GBP")
PLAIN_AMOUNT = re.compile(r"([0-9]{1,9})(?:[.,]([0-9]{1,2}))?")


class AmountNotUnderstood(ValueError):
    """
    What a person typed is not an amount of money; the message says how to write one.
    """

    def __init__(self, message: str | Promise) -> None:
        super().__init__(message)
        self.message = message


def round_half_up(amount: Decimal, places: int = 2) -> Decimal:
    """
    Round to `places` decimals, a half away from zero; zero never carries a minus.

    :raises TypeError: if the amount is a float
    :raises ValueError: if the amount is infinite or not a number
    """
    _refuse_float(amount)
    if not Decimal(amount).is_finite():
        raise ValueError(f"{amount} cannot be rounded.")
    step = Decimal(1).scaleb(-places)
    # Adding zero turns -0.00 into 0.00.
    return Decimal(amount).quantize(step, rounding=ROUND_HALF_UP) + 0


def quantize(money: Money) -> Money:
    """
    Round to the minor unit of the money's currency, half up.
    """
    amount = round_half_up(money.amount, places_of(money.currency))
    return Money(amount, money.currency)


def places_of(currency: Currency) -> int:
    """
    Return how many decimals the minor unit of a currency is.
    """
    return len(str(currency.sub_unit)) - 1


def to_minor(money: Money) -> int:
    """
    Return the amount in minor units (cents), as payment providers want it.

    :raises TypeError: if the argument is not Money
    :raises ValueError: if the amount has a fraction of a minor unit: round it first
    """
    if not hasattr(money, "currency"):
        raise TypeError(f"{money!r} has no currency: pass Money.")
    minor = money.amount * money.currency.sub_unit
    if minor != minor.to_integral_value():
        raise ValueError(f"{money!r} has a fraction of a minor unit.")
    return int(minor)


def from_minor(minor: int, currency: str) -> Money:
    """
    Return the Money that a payment provider writes as `minor` units (cents).

    :raises TypeError: if `minor` is not a whole number
    """
    if type(minor) is not int:
        raise TypeError(f"{minor!r} is not a whole number of minor units.")
    one = Money(1, currency).currency
    return quantize(Money(Decimal(minor) / one.sub_unit, one))


def parse_amount(text: str) -> Decimal:
    """
    Read an amount that a person typed; point and comma are both the decimal mark.

    Thousands separators are refused, because 1.008 is a thousand to some readers and
    about one to others.

    :raises AmountNotUnderstood: if the text is anything but an amount above zero
    """
    bare = _without_currency_sign(text.strip())
    if not bare:
        raise AmountNotUnderstood(_("Write an amount, for example 12.50 or 12,50."))
    match = PLAIN_AMOUNT.fullmatch(bare)
    if match is None:
        raise AmountNotUnderstood(
            _(
                "Write the amount in digits, without thousands separators and with at"
                " most two decimals, for example 1250.50 or 1250,50."
            )
        )
    amount = round_half_up(Decimal(f"{match[1]}.{match[2] or '0'}"))
    if not amount:
        raise AmountNotUnderstood(
            _("Write an amount above zero, for example 12.50 or 12,50.")
        )
    return amount


def plain(amount: Decimal) -> str:
    """
    Write an amount as machines read it: with a point and two decimals or more.
    """
    whole, _, fraction = f"{amount:f}".partition(".")
    return f"{whole}.{fraction.rstrip('0').ljust(2, '0')}"


def split(amount: Decimal, parts: int) -> list[Decimal]:
    """
    Split an amount of whole cents into `parts` that add up to it again.

    The parts differ by a cent at most, the larger ones come first.

    :raises ValueError: if the amount has a fraction of a cent, or for no parts
    """
    _refuse_float(amount)
    if parts < 1:
        raise ValueError("An amount is split into one part or more.")
    if round_half_up(amount) != amount:
        raise ValueError(f"{amount} has a fraction of a cent.")
    sign = -1 if amount < 0 else 1
    share, left_over = divmod(int(abs(amount) / CENT), parts)
    return [sign * (share + (part < left_over)) * CENT + 0 for part in range(parts)]


def fee_of(total: Decimal, rate: Decimal) -> tuple[Decimal, Decimal]:
    """
    Return the fee, rounded half up to cents, and the rest of `total` after it.

    `rate` is a fraction: 0.125 for 12.5 %.

    :raises TypeError: if either is a float
    :raises ValueError: if the rate is not between 0 and 1
    """
    _refuse_float(total)
    _refuse_float(rate)
    if not 0 <= rate <= 1:
        raise ValueError(f"A fee rate is a fraction between 0 and 1, not {rate}.")
    fee = round_half_up(total * rate)
    return fee, total - fee


def _refuse_float(amount: object) -> None:
    if isinstance(amount, float):
        raise TypeError(f"{amount!r} is a float: amounts are Decimals.")


def _without_currency_sign(text: str) -> str:
    for sign in CURRENCY_SIGNS:
        if text.upper().startswith(sign):
            return text[len(sign) :].strip()
        if text.upper().endswith(sign):
            return text[: -len(sign)].strip()
    return text
