"""
Makes prices in different currencies comparable, at the day rates of the database.

The rates are those of djmoney's exchange tables, where billing keeps one set for each
day: a backend named "ECB" and the day, in units of each currency per euro. Asks are
compared at the newest set, a rate rounded half up to six decimals, as the order book
compares them for somebody who pays in this currency. Nothing is shown converted here:
an ask is what its supplier asks, in the supplier's currency.
"""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import (
    Case,
    DecimalField,
    ExpressionWrapper,
    F,
    Func,
    Q,
    QuerySet,
    Value,
    When,
)
from django.db.models.expressions import RawSQL
from djmoney.contrib.exchange.models import ExchangeBackend, Rate

from money import round_half_up

SOURCE = "ECB"
BASE = "EUR"
REFERENCE: str = settings.CURRENCIES[0]
"""The currency that asks are compared in."""

PLACES = 6
# Written by hand, because it is part of every query for offers and takes long to build.
RATE = """
    SELECT value FROM exchange_rate WHERE currency = %s AND backend_id = (
        SELECT name FROM exchange_exchangebackend
        WHERE starts_with(name, %s) AND name <= %s ORDER BY name DESC LIMIT 1
    )
"""
_AMOUNT: "DecimalField[Decimal, Decimal]" = DecimalField(
    max_digits=20, decimal_places=6
)


def comparable(amount: str, currency: str, *, at: datetime) -> ExpressionWrapper:
    """
    Return a price as SQL in the currency of comparison, null without a known rate.

    `amount` and `currency` name the columns of the price.
    """
    others = [code for code in settings.CURRENCIES if code != REFERENCE]
    rate = Case(
        When(Q(**{currency: REFERENCE}), then=Value(Decimal(1), output_field=_AMOUNT)),
        *(When(Q(**{currency: code}), then=_rate(code, at=at)) for code in others),
        output_field=_AMOUNT,
    )
    return ExpressionWrapper(F(amount) * rate, output_field=_AMOUNT)


def rates(*, at: datetime, into: str = REFERENCE) -> dict[str, Decimal]:
    """
    Return what one unit of each currency is in another: that of comparison, if none is
    named.
    """
    rows = Rate.objects.filter(backend__in=_newest_day(at))
    per_base = {BASE: Decimal(1), **dict(rows.values_list("currency", "value"))}
    if into not in per_base:
        return {into: Decimal(1)}
    return {
        code: round_half_up(per_base[into] / value, PLACES)
        for code, value in per_base.items()
    }


def _rate(code: str, *, at: datetime) -> Func:
    # Neither query depends on the row: PostgreSQL asks each of them once.
    quotient: Any = _per_base(REFERENCE, at=at) / _per_base(code, at=at)
    return Func(quotient, Value(PLACES), function="ROUND", output_field=_AMOUNT)


def _per_base(code: str, *, at: datetime) -> Any:
    if code == BASE:
        return Value(Decimal(1), output_field=_AMOUNT)
    # Constant text; what varies is passed as parameters.
    return RawSQL(RATE, [code, f"{SOURCE} ", _name(at)], output_field=_AMOUNT)  # noqa: S611


def _name(at: datetime) -> str:
    return f"{SOURCE} {at.astimezone(UTC):%Y-%m-%d}"


def _newest_day(at: datetime) -> "QuerySet[ExchangeBackend]":
    days = ExchangeBackend.objects.filter(
        name__startswith=f"{SOURCE} ",
        name__lte=f"{SOURCE} {at.astimezone(UTC):%Y-%m-%d}",
    )
    return days.order_by("-name")[:1]
