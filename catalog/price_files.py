"""
Reads and writes prices as CSV: one line is one price of one offer.

An offer is named by the slugs of its supplier, GPU and region and by the size of its
node. What is written can be read again and changes nothing.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import F, Q
from django.utils.translation import gettext as _
from djmoney.money import Money

from catalog.models import GpuModel, Offer, OfferPrice, Region, Supplier
from catalog.price_plans import Line
from catalog.uploads import read_rows
from csv_files import csv_lines, unguarded

KEY = ("supplier", "gpu", "region", "gpus_per_node")
COLUMNS = (*KEY, "hourly_price", "currency", "valid_from", "reason")
MUST_HAVE = (*KEY, "hourly_price", "currency")
MOST_LETTERS = 200
AMOUNT = re.compile(r"\d{1,7}(\.\d{1,6})?", re.ASCII)


class Known(NamedTuple):
    """
    What a line may name: the slugs, and the offers by their key.
    """

    suppliers: frozenset[str]
    gpus: frozenset[str]
    regions: frozenset[str]
    offers: Mapping[tuple[str, str, str, int], int]


def read_lines(text: str) -> list[Line]:
    """
    Return what each line of a file wants; a line that cannot be read says why.

    :raises FileRefused: if columns are missing, or there are no lines or too many
    """
    rows = read_rows(text, must_have=MUST_HAVE)
    known = _known()
    return [_Reader(number, row, known).line() for number, row in rows]


def written_lines(*, at: datetime) -> Iterator[str]:
    """
    Yield the prices of all offers as CSV: those of now and those that are scheduled.

    Offers without a price come with an empty one, to be filled in. Reasons are left
    out: an old one would let a slip of the hand pass.
    """
    offers = Offer.objects.order_by(
        "gpu__slug", "supplier__slug", "region__slug", "gpus_per_node", "pk"
    )
    prices = _prices_of_offers(at)
    keys = offers.values_list(
        "pk", "supplier__slug", "gpu__slug", "region__slug", "gpus_per_node"
    )
    rows = (
        [*key, *price, ""]
        for pk, *key in keys
        for price in prices.get(pk, [(None, "", None)])
    )
    return csv_lines(COLUMNS, rows)


def _prices_of_offers(at: datetime) -> dict[int, list[tuple[Any, ...]]]:
    versions = OfferPrice.objects.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=at))
    rows: Any = versions.order_by("valid_from").values_list(
        "offer_id", "hourly_price", "hourly_price_currency", "valid_from"
    )
    found: dict[int, list[tuple[Any, ...]]] = {}
    for offer_id, amount, *rest in rows:
        found.setdefault(offer_id, []).append((amount.normalize(), *rest))
    return found


def _known() -> Known:
    offers = Offer.objects.annotate(
        supplier_slug=F("supplier__slug"), gpu_slug=F("gpu__slug")
    ).values_list("pk", "supplier_slug", "gpu_slug", "region__slug", "gpus_per_node")
    return Known(
        suppliers=frozenset(Supplier.objects.values_list("slug", flat=True)),
        gpus=frozenset(GpuModel.objects.values_list("slug", flat=True)),
        regions=frozenset(Region.objects.values_list("slug", flat=True)),
        offers={(*names, size): pk for pk, *names, size in offers},
    )


class _Unreadable(Exception):
    """
    A line says nothing that can be done; the message says why.
    """


class _Reader:
    """
    Reads one line of a file.
    """

    def __init__(
        self, number: int, row: Mapping[str | None, Any], known: Known
    ) -> None:
        self.number, self.known = number, known
        self.has_more_cells = None in row
        self.has_fewer_cells = None in row.values()
        self.row = {
            name: unguarded((cell or "").strip())
            for name, cell in row.items()
            if name is not None
        }

    def line(self) -> Line:
        label = " · ".join(self.row.get(name, "") for name in KEY)
        typed = f"{self.row.get('hourly_price', '')} {self.row.get('currency', '')}"
        line = Line(number=self.number, label=label, typed=typed.strip())
        try:
            self._check_cells()
            return replace(
                line,
                offer_id=self._offer_id(),
                price=Money(self._amount(), self._currency()),
                valid_from=self._valid_from(),
                reason=self._reason(),
                is_meant=True,
            )
        except _Unreadable as error:
            return replace(line, fault=str(error))

    def _check_cells(self) -> None:
        if self.has_more_cells:
            raise _Unreadable(
                _(
                    "This line has more cells than the first one. Write prices with a"
                    " decimal point, like 0.33, and put text with commas in quotes."
                )
            )
        if self.has_fewer_cells:
            raise _Unreadable(_("This line has fewer cells than the first one."))

    def _offer_id(self) -> int:
        for name, slugs in [
            ("supplier", self.known.suppliers),
            ("gpu", self.known.gpus),
            ("region", self.known.regions),
        ]:
            if self.row[name] not in slugs:
                raise _Unreadable(
                    _("There is no %(column)s “%(slug)s”.")
                    % {"column": name, "slug": self.row[name]}
                )
        if not re.fullmatch(r"\d{1,3}", self.row["gpus_per_node"], re.ASCII):
            raise _Unreadable(_("gpus_per_node is a whole number, like 1 or 8."))
        names = (self.row["supplier"], self.row["gpu"], self.row["region"])
        found = self.known.offers.get((*names, int(self.row["gpus_per_node"])))
        if found is None:
            raise _Unreadable(
                _(
                    "The supplier has no such offer. Add the offer first: a file of"
                    " prices adds none."
                )
            )
        return found

    def _amount(self) -> Decimal:
        text = self.row["hourly_price"]
        if AMOUNT.fullmatch(text):
            return Decimal(text)
        raise _Unreadable(_amount_fault(text))

    def _currency(self) -> str:
        if self.row["currency"] not in settings.CURRENCIES:
            raise _Unreadable(
                _("There is no currency “%(code)s” here. Write one of %(codes)s.")
                % {
                    "code": self.row["currency"],
                    "codes": ", ".join(settings.CURRENCIES),
                }
            )
        return self.row["currency"]

    def _valid_from(self) -> datetime | None:
        text = self.row.get("valid_from", "")
        if not text:
            return None
        try:
            moment = datetime.fromisoformat(text)
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            raise _Unreadable(
                _("Write valid_from like 2027-01-31T00:00Z, or leave it empty.")
            )
        return moment

    def _reason(self) -> str:
        reason = self.row.get("reason", "")
        if len(reason) > MOST_LETTERS:
            raise _Unreadable(_("The reason is longer than 200 characters."))
        return reason


def _amount_fault(text: str) -> str:
    if not text:
        return _("The price is missing.")
    if text.startswith("-"):
        return _("A price is more than zero.")
    if "," in text:
        return _("Write the price with a decimal point, like 0.33, not with a comma.")
    if re.fullmatch(r"\d{1,7}\.\d{7,}", text, re.ASCII):
        return _("A price has at most 6 decimals.")
    return _("This is not a price. Write it like 0.33.")
