"""
Which prices were changed lately, by whom, and which of them can be undone.
"""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, F, OuterRef, Q, Subquery, Window
from django.db.models.functions import RowNumber
from djmoney.money import Money

from catalog.models import OfferPrice

SAVES_SHOWN = 10
# Of a save with thousands of prices, the first ones say what it was.
PRICES_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class Change:
    """
    A version with the price before it; None for an offer's first price.
    """

    version: Any
    before: Money | None

    @property
    def can_be_undone(self) -> bool:
        """
        Whether it is its offer's newest version and has one before it.
        """
        return self.before is not None and self.version.valid_to is None


@dataclass(frozen=True, kw_only=True)
class Save:
    """
    What somebody saved together; `changes` are the first ones of `count`.
    """

    created_at: datetime
    created_by: int | None
    email: str
    count: int
    newest: int
    changes: list[Change]

    @property
    def can_be_undone(self) -> bool:
        """
        Whether all of it can be undone at once, as far as its first changes tell.
        """
        has_earlier = all(change.before for change in self.changes)
        return self.count > 1 and self.count == self.newest and has_earlier


def recent_saves(*, page: Any) -> Page:
    """
    Return a page of saves, the latest first.
    """
    saves: Any = (
        OfferPrice.objects.values(
            "created_at", "created_by", email=F("created_by__email")
        )
        .annotate(
            count=Count("pk"), newest=Count("pk", filter=Q(valid_to__isnull=True))
        )
        .order_by("-created_at", "created_by")
    )
    shown = Paginator(saves, SAVES_SHOWN).get_page(page)
    rows: list[Any] = list(shown.object_list)
    changes = _first_changes([row["created_at"] for row in rows])
    shown.object_list = [
        Save(**row, changes=changes.get((row["created_at"], row["created_by"]), []))
        for row in rows
    ]
    return shown


def _first_changes(
    moments: list[datetime],
) -> dict[tuple[datetime, int | None], list[Change]]:
    previous = OfferPrice.objects.filter(
        offer=OuterRef("offer"), valid_to=OuterRef("valid_from")
    )
    place = Window(
        RowNumber(),
        partition_by=[F("created_at"), F("created_by")],
        order_by=F("pk").asc(),
    )
    versions = OfferPrice.objects.filter(created_at__in=moments).annotate(
        before_amount=Subquery(previous.values("hourly_price")[:1]),
        before_currency=Subquery(previous.values("hourly_price_currency")[:1]),
        place=place,
    )
    first = versions.filter(place__lte=PRICES_SHOWN).select_related(
        "offer__gpu", "offer__supplier", "offer__region", "proposal__decided_by"
    )
    found: dict[tuple[datetime, int | None], list[Change]] = defaultdict(list)
    for version in first.order_by("pk"):
        found[version.created_at, version.created_by_id].append(_change(version))
    return found


def _change(version: Any) -> Change:
    amount = version.before_amount
    before = None if amount is None else Money(amount, version.before_currency)
    return Change(version=version, before=before)
