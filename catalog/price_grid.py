"""
The prices of many offers side by side: a row for what is offered, a column a region.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from djmoney.money import Money

from catalog.models import Offer, Region
from catalog.models.offers import OfferQuerySet
from catalog.price_plans import Version, input_name, versions_of

ROWS_SHOWN = 30
ROW_KEY = ("gpu_id", "supplier_id", "gpus_per_node")


@dataclass(frozen=True, kw_only=True)
class Cell:
    """
    One offer's price: the version of now, those that are scheduled, the newest of all.
    """

    offer: Any
    current: Version | None
    scheduled: list[Version]
    newest: int

    @property
    def name(self) -> str:
        return input_name(self.offer.pk, self.current, self.newest)

    @property
    def typed(self) -> str:
        return typed(self.current.price) if self.current else ""


@dataclass(frozen=True, kw_only=True)
class GridRow:
    """
    What a supplier offers in some regions; None where it offers nothing.
    """

    offer: Any
    cells: list[Cell | None]


@dataclass(frozen=True, kw_only=True)
class Grid:
    regions: list[Region]
    rows: list[GridRow]
    page: Page


def typed(price: Money) -> str:
    """
    Return a price as it is typed: no currency, no more decimals than it has.
    """
    text = f"{price.amount:.6f}".rstrip("0")
    whole, _mark, decimals = text.partition(".")
    return f"{whole}.{decimals.ljust(2, '0')}"


def read_grid(*, at: datetime, page: Any, filters: Mapping[str, str]) -> Grid:
    """
    Return a page of the grid; `filters` are slugs by "gpu", "supplier" and "region".
    """
    offers = Offer.objects.all()
    for name in ("gpu", "supplier", "region"):
        if slug := filters.get(name):
            offers = offers.filter(**{f"{name}__slug": slug})
    keys = offers.order_by("gpu__label", "supplier__name", "gpus_per_node").values_list(
        *ROW_KEY
    )
    shown = Paginator(keys.distinct(), ROWS_SHOWN).get_page(page)
    found = _offers_of(offers, list(shown.object_list), at=at)
    regions = list(Region.objects.filter(offers__in=offers).distinct().order_by("name"))
    versions = versions_of([offer.pk for offer in found], at=at)
    cells = {
        (_key(offer), offer.region_id): _cell(offer, versions.get(offer.pk, []), at)
        for offer in found
    }
    by_row = {_key(offer): offer for offer in found}
    rows = [
        GridRow(
            offer=by_row[key],
            cells=[cells.get((key, region.pk)) for region in regions],
        )
        for key in shown.object_list
    ]
    return Grid(regions=regions, rows=rows, page=shown)


def _offers_of(
    offers: OfferQuerySet, keys: list[tuple[int, ...]], *, at: datetime
) -> list[Any]:
    wanted = set(keys)
    gpu_ids, supplier_ids = {key[0] for key in keys}, {key[1] for key in keys}
    some = offers.filter(gpu__in=gpu_ids, supplier__in=supplier_ids).with_price(at)
    rows = some.select_related("gpu", "supplier", "region")
    return [offer for offer in rows if _key(offer) in wanted]


def _key(offer: Offer) -> tuple[int, ...]:
    return (offer.gpu_id, offer.supplier_id, offer.gpus_per_node)


def _cell(offer: Any, versions: list[Version], at: datetime) -> Cell:
    valid = [version for version in versions if version.valid_from <= at]
    return Cell(
        offer=offer,
        current=valid[-1] if valid else None,
        scheduled=[version for version in versions if version.valid_from > at],
        newest=max((version.pk for version in versions), default=0),
    )
