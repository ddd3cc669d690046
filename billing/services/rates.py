"""
Exchange rates: one immutable set for each day that the European Central Bank publishes.

A day's set is one backend of djmoney's exchange tables, named after source and day, in
units per euro. A quote names the day of its rate, and that day's rate never changes.
"""

import csv
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal, InvalidOperation
from pathlib import Path

import requests
from django.conf import settings
from django.db import transaction
from django.db.models import Subquery
from django.utils.translation import gettext as _
from djmoney.contrib.exchange.models import ExchangeBackend, Rate
from djmoney.money import Money

from money import round_half_up

SOURCE = "ECB"
BASE = "EUR"
COLUMNS = {"CURRENCY", "CURRENCY_DENOM", "TIME_PERIOD", "OBS_VALUE"}
PLACES = 6
TIMEOUT_SECONDS = 10
SHIPPED_FILE = Path(__file__).parent.parent / "data" / "exchange_rates.csv"


class NoExchangeRate(Exception):
    """
    No day's rates are known that say what one currency is in the other.
    """

    def __init__(self, source: str, target: str) -> None:
        super().__init__(
            _("There is no exchange rate from %(source)s to %(target)s.")
            % {"source": source, "target": target}
        )


class RatesDiffer(Exception):
    """
    A file has other rates for a day than those that quotes were made with.
    """


@dataclass(frozen=True)
class Conversion:
    """
    An amount in another currency, with the rate that was used and its day.
    """

    amount: Money
    rate: Decimal
    as_of: datetime


@dataclass(frozen=True)
class DayRates:
    """
    What one euro was on a day, by currency, and how long ago that is.
    """

    source: str
    as_of: datetime
    age: timedelta
    rates: dict[str, Decimal]


def convert(*, amount: Money, currency: str, at: datetime) -> Conversion:
    """
    Convert at the newest day's rate that is known at `at`.

    The rate is rounded half up to six decimals, and so is the converted amount: what
    is a price per hour may have fractions of a cent.

    :raises NoExchangeRate: if no day has both currencies
    """
    source = str(amount.currency)
    if source == currency:
        return Conversion(amount, Decimal(1), at)
    as_of, rates = _newest_day(at)
    if as_of is None or source not in rates or currency not in rates:
        raise NoExchangeRate(source, currency)
    rate = round_half_up(rates[currency] / rates[source], PLACES)
    converted = Money(round_half_up(amount.amount * rate, PLACES), currency)
    return Conversion(converted, rate, as_of)


def newest_rates(*, at: datetime) -> DayRates | None:
    """
    Return the newest day's rates, for people to look at, or None if there are none.
    """
    as_of, rates = _newest_day(at)
    return None if as_of is None else DayRates(SOURCE, as_of, at - as_of, rates)


def _newest_day(at: datetime) -> tuple[datetime | None, dict[str, Decimal]]:
    """
    Return the newest day and what one euro was on it, by currency, in one query.
    """
    days = ExchangeBackend.objects.filter(
        name__startswith=f"{SOURCE} ", name__lte=_name(at)
    )
    newest = days.order_by("-name").values("name")[:1]
    rows = Rate.objects.filter(backend=Subquery(newest))
    found = list(rows.values_list("backend_id", "currency", "value"))
    if not found:
        return None, {}
    rates = {currency: value for _day, currency, value in found}
    return _as_of(found[0][0]), {BASE: Decimal(1), **rates}


def _name(day: datetime) -> str:
    return f"{SOURCE} {day.astimezone(UTC):%Y-%m-%d}"


def _as_of(name: str) -> datetime:
    written = name.removeprefix(f"{SOURCE} ")
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def load_rates(*, lines: Iterable[str]) -> int:
    """
    Store the days of a CSV file of the European Central Bank; return how many are new.

    It has one line per currency and day, with the columns CURRENCY, CURRENCY_DENOM,
    TIME_PERIOD and OBS_VALUE. Currencies without wallets are left out.

    :raises RatesDiffer: if a day is known with other rates
    :raises ValueError: if the lines are no such file
    """
    days: dict[date, dict[str, Decimal]] = {}
    reader = csv.DictReader(lines)
    if not set(reader.fieldnames or []) >= COLUMNS:
        raise ValueError("This is not a file of exchange rates.")
    for row in reader:
        if row["CURRENCY"] in settings.CURRENCIES and row["CURRENCY_DENOM"] == BASE:
            day = date.fromisoformat(row["TIME_PERIOD"])
            days.setdefault(day, {})[row["CURRENCY"]] = _positive(row["OBS_VALUE"])
    return sum(_store(day, rates) for day, rates in sorted(days.items()))


def _positive(text: str) -> Decimal:
    try:
        value = Decimal(text)
    except InvalidOperation as error:
        raise ValueError(f"{text!r} is not a rate.") from error
    if not (value.is_finite() and value > 0):
        raise ValueError(f"{text!r} is not a rate.")
    return value


@transaction.atomic
def _store(day: date, rates: dict[str, Decimal]) -> bool:
    backend, is_new = ExchangeBackend.objects.get_or_create(
        name=f"{SOURCE} {day}", defaults={"base_currency": BASE}
    )
    if not is_new:
        rows = Rate.objects.filter(backend=backend)
        known = dict(rows.values_list("currency", "value"))
        if known != rates:
            raise RatesDiffer(f"The rates of {day} are known as {known}.")
        return False
    Rate.objects.bulk_create(
        Rate(backend=backend, currency=currency, value=value)
        for currency, value in rates.items()
    )
    return True


def load_shipped_rates() -> int:
    """
    Store the one set of rates that comes with the program, for the demo.
    """
    with SHIPPED_FILE.open(encoding="utf-8") as lines:
        return load_rates(lines=lines)


def fetch_rates() -> int:
    """
    Ask the European Central Bank for its newest rates; return how many days are new.

    :raises requests.RequestException: if it does not answer with them
    :raises ValueError: if what it answers is no file of rates
    :raises RatesDiffer: if it changed a day afterwards
    """
    answer = requests.get(
        settings.EXCHANGE_RATES_URL, timeout=TIMEOUT_SECONDS, allow_redirects=False
    )
    if answer.status_code != requests.codes.ok:
        raise requests.HTTPError(f"The bank answered {answer.status_code}.")
    return load_rates(lines=answer.text.splitlines())
