"""
Prices as staff type them: into the cells of the grid, or as a file.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django import forms
from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from djmoney.money import Money

from catalog import price_files
from catalog.models import OfferPrice
from catalog.price_grid import typed
from catalog.price_plans import Line

CELL = re.compile(r"price-(\d{1,18})-(\d{1,18})-(\d{1,18})", re.ASCII)
ID = re.compile(r"\d{1,18}", re.ASCII)
MOST_LETTERS = price_files.MOST_LETTERS
TYPED = re.compile(r"(\d{1,7})(?:[.,](\d{1,6}))?(?:\s*([A-Z]{3}))?", re.ASCII)


class ChangeForm(forms.Form):
    """
    What is the same for all prices that are changed together.
    """

    valid_from = forms.DateTimeField(
        label=gettext_lazy("Valid from"),
        required=False,
        help_text=gettext_lazy("In your time zone. Empty: as soon as you save."),
        widget=forms.DateTimeInput(
            attrs={"type": "datetime-local"}, format="%Y-%m-%dT%H:%M"
        ),
        input_formats=["%Y-%m-%dT%H:%M", "%Y-%m-%dT%H:%M:%S"],
    )
    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        required=False,
        max_length=200,
        help_text=gettext_lazy("Kept with every price that you change here."),
    )


class DecisionForm(forms.Form):
    """
    What a second person says to prices that wait; which ones, the table tells.
    """

    reason = forms.CharField(
        label=gettext_lazy("Reason"),
        max_length=200,
        help_text=gettext_lazy("Kept with every price that you choose."),
    )

    def chosen(self) -> set[int]:
        """
        Return the ids of the prices that were ticked.
        """
        data: Any = self.data
        ticked = data.getlist("proposal") if self.is_bound else []
        return {int(text) for text in ticked if ID.fullmatch(text)}


class _Cell(NamedTuple):
    """
    What was typed for an offer, the version shown there and the newest one then.
    """

    offer_id: int
    shown: int
    newest: int
    text: str


def read_cells(
    data: Mapping[str, str], *, valid_from: datetime | None, reason: str
) -> list[Line]:
    """
    Return a line for each cell whose text is no longer the price that was shown there.

    A reason of the cell's own goes before the common one: it says that this price is
    meant, however unlikely it is.
    """
    cells = list(_cells(data))
    shown = OfferPrice.objects.in_bulk({cell.shown for cell in cells})
    lines = []
    for cell in cells:
        price = shown[cell.shown].hourly_price if cell.shown in shown else None
        if cell.text == (typed(price) if price else ""):
            continue
        own_reason = data.get(f"reason-{cell.offer_id}", "").strip()
        line = Line(
            number=cell.offer_id,
            offer_id=cell.offer_id,
            seen=cell.newest,
            typed=cell.text,
            valid_from=valid_from,
            reason=(own_reason or reason)[:MOST_LETTERS],
            is_meant=bool(own_reason),
        )
        lines.append(_read(line, price.currency.code if price else "USD"))
    return lines


def _cells(data: Mapping[str, str]) -> Iterator[_Cell]:
    for name, text in data.items():
        if found := CELL.fullmatch(name):
            offer_id, shown, newest = (int(number) for number in found.groups())
            yield _Cell(offer_id, shown, newest, text.strip())


def _read(line: Line, currency: str) -> Line:
    found = TYPED.fullmatch(line.typed)
    if found is None:
        return replace(line, fault=_fault(line.typed))
    amount = Decimal(f"{found[1]}.{found[2] or 0}")
    code = found[3] or currency
    if code not in settings.CURRENCIES:
        codes = ", ".join(settings.CURRENCIES)
        fault = _("There is no currency “%(code)s” here. Write one of %(codes)s.")
        return replace(line, fault=fault % {"code": code, "codes": codes})
    return replace(line, price=Money(amount, code))


def _fault(text: str) -> str:
    if not text:
        return _("A price cannot be taken away. Take the offer off the list instead.")
    return _(
        "Write the price like 0.33 or 0,33, or like 0.33 EUR to change its currency."
    )
