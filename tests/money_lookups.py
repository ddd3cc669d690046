"""
Lets no query of the project compare a column with a `Money`.

Only its number would be compared: 5 US dollars would find 10 euros. Whoever asks for
an amount asks for its currency beside it.
"""

import sys
from pathlib import Path

from django.db.models.lookups import Lookup
from djmoney.money import Money

TESTS = str(Path(__file__).parent)
begin = Lookup.__init__


def begin_without_money(self, lhs, rhs):
    if isinstance(rhs, Money) and not is_asked_by_a_test():
        raise TypeError(f"Compare with the number and the currency, not with {rhs!r}.")
    begin(self, lhs, rhs)


def is_asked_by_a_test():
    frame = sys._getframe(1)
    while "site-packages" in frame.f_code.co_filename or frame.f_globals is globals():
        frame = frame.f_back
    return frame.f_code.co_filename.startswith(TESTS)


Lookup.__init__ = begin_without_money
