"""
Between the services' money and time and the model's whole cents and seconds.
"""

from datetime import UTC, datetime
from decimal import Decimal

from djmoney.money import Money

HOUR, DAY = 3600, 24 * 3600
CURRENCIES = ["USD", "EUR", "GBP"]


def moment(seconds):
    return datetime.fromtimestamp(seconds, UTC)


def in_cents(amount):
    """
    Return money of the services as the model counts it.
    """
    return int(getattr(amount, "amount", amount) * 100)


def money(amount_in_cents, currency):
    return Money(Decimal(amount_in_cents) / 100, currency)
