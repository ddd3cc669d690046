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
    DecimalField,
    F,
    Func,
    QuerySet,
)
from django.db.models.sql.compiler import SQLCompiler
from djmoney.contrib.exchange.models import ExchangeBackend, Rate

from money import round_half_up

SOURCE = "ECB"
BASE = "EUR"
REFERENCE: str = settings.CURRENCIES[0]
"""The currency that asks are compared in."""

PLACES = 6
_AMOUNT: "DecimalField[Decimal, Decimal]" = DecimalField(
    max_digits=20, decimal_places=6
)


def comparable_sql(amount: str, currency: str, day: str) -> str:
    """
    Return a price as SQL in the currency of comparison, null without a known rate.

    `amount` and `currency` are the columns of the price; `day` is the placeholder for
    `newest_name`. Written by hand, because it is part of every query for offers and
    takes long to build; PostgreSQL asks for each rate once.
    """
    others = [code for code in settings.CURRENCIES if code != REFERENCE]
    of_reference = _per_base(REFERENCE, day)
    converted = " ".join(
        f"WHEN '{code}' THEN {amount}"
        f" * round({of_reference} / {_per_base(code, day)}, {PLACES})"
        for code in others
    )
    return f"CASE {currency} WHEN '{REFERENCE}' THEN {amount} {converted} END"


def _per_base(code: str, day: str) -> str:
    if code == BASE:
        return "1"
    # Constant text; what varies is a parameter.
    return f"""(
        SELECT value FROM exchange_rate WHERE currency = '{code}' AND backend_id = (
            SELECT name FROM exchange_exchangebackend
            WHERE starts_with(name, '{SOURCE} ') AND name <= {day}
            ORDER BY name DESC LIMIT 1
        )
    )"""  # noqa: S608


class Comparable(Func):
    """
    `comparable_sql` of two columns, at the day rates of `at`.
    """

    output_field = _AMOUNT

    def __init__(self, amount: str, currency: str, *, at: datetime) -> None:
        super().__init__(F(amount), F(currency))
        self.day = newest_name(at)

    def as_sql(  # type: ignore[override]
        self, compiler: SQLCompiler, _connection: Any, **_context: Any
    ) -> tuple[str, list[Any]]:
        (amount, _), (currency, _) = map(compiler.compile, self.source_expressions)
        sql = comparable_sql(amount, currency, "%s")
        return f"({sql})", [self.day] * sql.count("%s")


def newest_name(at: datetime) -> str:
    """
    Return the name that a set of rates of `at`'s day has; earlier ones sort before it.
    """
    return f"{SOURCE} {at.astimezone(UTC):%Y-%m-%d}"


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


def _newest_day(at: datetime) -> "QuerySet[ExchangeBackend]":
    days = ExchangeBackend.objects.filter(
        name__startswith=f"{SOURCE} ",
        name__lte=newest_name(at),
    )
    return days.order_by("-name")[:1]
