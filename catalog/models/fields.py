"""
Columns that several models have.
"""

from typing import Any

from django.conf import settings
from django.db import models
from djmoney.models.fields import MoneyField
from djmoney.money import Money


def price_field(name: Any, *, help_text: Any) -> "models.Field[Money, Money]":
    """
    Return a price with a currency of its own, in the six decimals of a rate.
    """
    field: models.Field[Money, Money] = MoneyField(
        name,
        max_digits=14,
        decimal_places=6,
        default_currency="USD",
        currency_choices=settings.CURRENCY_CHOICES,
        help_text=help_text,
    )
    return field
