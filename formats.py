"""
Numbers, money and times as readers of each language write them.

Everything visible goes through here. Babel knows the signs, their order and the
no-break spaces (CLDR); what it lacks is added: Spanish groups digits only from
10,000 on, zero has no minus, rounding is half up.
"""

from datetime import date, datetime, timedelta, tzinfo
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache

from babel import Locale
from babel.dates import format_date, format_time
from babel.numbers import format_currency, format_decimal, format_percent
from django.conf import settings
from django.utils.translation import get_language
from djmoney.money import Money

from money import places_of, round_half_up

LOCALES = {"en": "en_US", "es": "es_ES", "id": "id_ID"}

# CLDR's minimumGroupingDigits, which Babel leaves out; 1 where a language is missing.
LEAST_LEADING_DIGITS = {"es": 2}

# CLDR's compact form would be "15 M" in Indonesian, which reads as 15 million.
BILLIONS = {"en": "≈ {}B", "es": "≈ {}\u00a0mil\u00a0M", "id": "≈ {}B"}

# CLDR's "at time" patterns, which Babel leaves out.
DATE_AT_TIME = {"en": "{} at {}", "es": "{} a las {}", "id": "{} pukul {}"}

DURATION_UNITS = {
    "en": ("d", "h", "min", "s"),
    "es": ("d", "h", "min", "s"),
    "id": ("hr", "j", "mnt", "dtk"),
}
RATE_PLACES = 6
# A page repeats few prices and sizes many times, and Babel takes a while for each.
REMEMBERED = 10_000
# From two days on nobody counts in hours; below, a renter does.
LONGEST_IN_HOURS = timedelta(hours=48)


def language() -> str:
    """
    Return the language of the page or mail that is being written.
    """
    return get_language() or settings.LANGUAGE_CODE


def number(value: Decimal | float, language: str, places: int | None = None) -> str:
    """
    Write a number, rounded half up to `places` decimals, or with all it has.
    """
    return _number(_rounded(value, places), _known(language), places)


@lru_cache(REMEMBERED)
def _number(value: Decimal, language: str, places: int | None) -> str:
    fraction = "" if not places else "." + "0" * places
    return format_decimal(
        value,
        format=None if places is None else f"#,##0{fraction}",
        locale=_locale(language),
        decimal_quantization=False,
        group_separator=_is_grouped(value, language),
    )


def money(value: Money, language: str) -> str:
    """
    Write an amount of money, rounded half up to the minor unit of its currency.

    :raises TypeError: if the value is not Money
    """
    amount = round_half_up(_checked(value).amount, places_of(value.currency))
    return _currency(amount, value.currency.code, _known(language))


def rate(value: Money, language: str) -> str:
    """
    Write a price per unit: its minor unit at least, six decimals at most.

    :raises TypeError: if the value is not Money
    """
    amount = round_half_up(_checked(value).amount, RATE_PLACES)
    return _currency(amount, value.currency.code, _known(language))


def percent(value: Decimal | float, language: str, places: int | None = None) -> str:
    """
    Write a share (0.8) in percent (80%), by default with two decimals at most.
    """
    places = 2 if (is_free := places is None) else places
    share = round_half_up(_exact(value), (places or 0) + 2)
    fraction = "" if not places else "." + ("#" if is_free else "0") * places
    pattern = Locale.parse(_locale(language)).percent_formats[None].pattern
    return format_percent(
        share,
        format=pattern.replace("#,##0", f"#,##0{fraction}"),
        locale=_locale(language),
        decimal_quantization=False,
        group_separator=_is_grouped(share * 100, language),
    )


def billions(value: Decimal | float, language: str) -> str:
    """
    Write a count of parameters, given in billions, with one decimal at most.

    Counts are rounded down to whole billions, so none of them stands for some.
    """
    pattern = BILLIONS[_known(language)]
    if not value:
        return pattern.replace("≈", "<").format(1)
    return pattern.format(_at_most_one_decimal(value, language))


def gigabytes(value: Decimal | float, language: str, places: int | None = None) -> str:
    """
    Write an amount of memory or storage, by default with one decimal at most.
    """
    if places is None:
        return f"{_at_most_one_decimal(value, language)}\u00a0GB"
    return f"{number(value, language, places)}\u00a0GB"


def date_time(
    at: datetime, language: str, zone: tzinfo, *, is_short: bool = False
) -> str:
    """
    Write a moment as clocks in `zone` show it, to the minute; short is for tables.

    :raises ValueError: if the moment has no time zone
    """
    return _date_time(
        _in_zone(at, zone).replace(tzinfo=None), _known(language), is_short
    )


@lru_cache(REMEMBERED)
def _date_time(local: datetime, language: str, is_short: bool) -> str:
    locale = _locale(language)
    # CLDR puts a narrow no-break space before PM, which people cannot type or find.
    clock_time = format_time(local, "short", locale=locale).replace("\u202f", " ")
    if is_short:
        pattern = str(Locale.parse(locale).datetime_formats["medium"])
        return pattern.format(clock_time, format_date(local, "medium", locale=locale))
    pattern = DATE_AT_TIME[language]
    return pattern.format(format_date(local, "long", locale=locale), clock_time)


def day(
    at: datetime | date, language: str, zone: tzinfo, *, is_short: bool = False
) -> str:
    """
    Write a date; of a moment, the date that calendars in `zone` show.

    :raises ValueError: if a moment has no time zone
    """
    if isinstance(at, datetime):
        at = _in_zone(at, zone).date()
    return _day(at, "medium" if is_short else "long", _known(language))


@lru_cache(REMEMBERED)
def _day(at: date, style: str, language: str) -> str:
    return format_date(at, style, locale=_locale(language))


def duration(length: timedelta, language: str) -> str:
    """
    Write a length of time in its two largest units, rounded down to the smaller.

    Rounding down never promises a renter more time than there is.
    """
    days, hours, minutes, seconds = DURATION_UNITS[_known(language)]
    whole = abs(length) // timedelta(seconds=1)
    if abs(length) >= LONGEST_IN_HOURS:
        parts = [(whole // 86_400, days), (whole % 86_400 // 3600, hours)]
    elif whole >= 60:
        parts = [(whole // 3600, hours), (whole % 3600 // 60, minutes)]
    else:
        parts = [(whole, seconds)]
    written = [f"{number(n, language)}\u00a0{unit}" for n, unit in parts if n]
    sign = "-" if length < timedelta() and written else ""
    return sign + " ".join(written or [f"0\u00a0{parts[-1][1]}"])


def _known(language: str) -> str:
    base = language.partition("-")[0]
    return base if base in LOCALES else "en"


def _locale(language: str) -> str:
    return LOCALES[_known(language)]


def _exact(value: Decimal | float) -> Decimal:
    # str() gives the shortest digits that mean this float: 0.1, not 0.1000000000000055.
    return value if isinstance(value, Decimal) else Decimal(str(value))


def _rounded(value: Decimal | float, places: int | None) -> Decimal:
    exact = _exact(value)
    return exact + 0 if places is None else round_half_up(exact, places)


def _at_most_one_decimal(value: Decimal | float, language: str) -> str:
    rounded = round_half_up(_exact(value), 1)
    whole = rounded.to_integral_value(rounding=ROUND_HALF_UP)
    return number(whole if whole == rounded else rounded, language)


def _is_grouped(value: Decimal, language: str) -> bool:
    leading = LEAST_LEADING_DIGITS.get(_known(language), 1)
    return len(str(int(abs(value)))) >= 3 + leading


@lru_cache(REMEMBERED)
def _currency(amount: Decimal, code: str, language: str) -> str:
    return format_currency(
        amount,
        code,
        locale=_locale(language),
        decimal_quantization=False,
        group_separator=_is_grouped(amount, language),
    )


def _checked(value: Money) -> Money:
    if not hasattr(value, "currency"):
        raise TypeError(f"{value!r} has no currency: pass Money.")
    return value


def _in_zone(at: datetime, zone: tzinfo) -> datetime:
    if at.tzinfo is None:
        raise ValueError(f"{at!r} has no time zone.")
    return at.astimezone(zone)
