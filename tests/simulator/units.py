"""
Between the services' money and time and the model's whole cents and seconds.
"""

from datetime import UTC, datetime
from decimal import Decimal

from djmoney.money import Money

HOUR, DAY = 3600, 24 * 3600


def moment(seconds):
    return datetime.fromtimestamp(seconds, UTC)


def in_cents(amount):
    """
    Return money of the services as the model counts it.
    """
    return int(getattr(amount, "amount", amount) * 100)


def usd(amount_in_cents):
    return Money(Decimal(amount_in_cents) / 100, "USD")
