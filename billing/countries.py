"""
The countries a customer can be in, named in the reader's language (CLDR).
"""

from functools import cache
from unicodedata import normalize

from babel import Locale

# CLDR also names parts of countries, groups of countries and test codes.
NOT_COUNTRIES = frozenset(
    ["AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"]
)


@cache
def codes() -> frozenset[str]:
    """
    Return the two-letter ISO 3166 codes, and XK for Kosovo.
    """
    known = {str(code) for code in Locale("en").territories}
    pairs = {code for code in known if len(code) == 2 and code.isalpha()}
    return frozenset(pairs - NOT_COUNTRIES)


def name(code: str, *, language: str) -> str:
    """
    Return what the country is called in the language.
    """
    return str(Locale(language).territories[code])


@cache
def choices(*, language: str) -> list[tuple[str, str]]:
    """
    Return (code, name) of every country in the order of the names.
    """
    named = [(code, name(code, language=language)) for code in codes()]
    # Åland belongs beside Albania, not after Zimbabwe.
    return sorted(named, key=lambda row: normalize("NFKD", row[1]).casefold())
