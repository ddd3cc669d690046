"""
Adds the rows of `catalog/data/` that the database does not have yet.

Rows are found by natural keys. A row that exists is left alone, whatever the file
says: staff may have changed it since.
"""

import csv
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from djmoney.money import Money

from catalog import guide_files
from catalog.models import (
    BaseModel,
    GpuModel,
    Image,
    Offer,
    OfferPrice,
    Region,
    StoragePlan,
    Supplier,
)

DATA = Path(__file__).parent / "data"
OFFER_KEY = ("supplier_id", "gpu_id", "region_id", "gpus_per_node")


@transaction.atomic
def load_catalog(*, at: datetime) -> dict[str, int]:
    """
    Add all that is missing and return how many rows of each kind were added.
    """
    return {
        "GPUs": _add_missing(GpuModel, "slug", _rows("gpus")),
        "base models": _add_missing(BaseModel, "hf_id", _rows("base_models")),
        "regions": _add_missing(Region, "slug", _rows("regions")),
        "suppliers": _add_missing(Supplier, "slug", _rows("suppliers")),
        "storage plans": _add_missing(StoragePlan, "slug", _rows("storage_plans")),
        "images": _add_missing(Image, "slug", _rows("images")),
        "offers": _add_offers(at),
        "guide texts": guide_files.add_guides(DATA / "workloads", at=at),
    }


def _rows(name: str) -> list[dict[str, str]]:
    with (DATA / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def _add_missing(
    model: type[models.Model], key: str, rows: Iterable[dict[str, str]]
) -> int:
    manager = model._default_manager
    known = set(manager.values_list(key, flat=True))
    new = [model(**_typed(model, row)) for row in rows if row[key] not in known]
    return len(manager.bulk_create(new))


def _typed(model: type[models.Model], row: dict[str, str]) -> dict[str, Any]:
    row = dict(row)
    currency = row.pop("currency", None)
    values = {
        name: _value(model._meta.get_field(name), text) for name, text in row.items()
    }
    if currency:
        values["monthly_price"] = Money(row["monthly_price"], currency)
    return values


def _value(field: Any, text: str) -> Any:
    if isinstance(field, models.BooleanField):
        return {"yes": True, "no": False}[text]
    if isinstance(field, ArrayField):
        return text.split(";")
    if text == "" and field.null:
        return None
    return field.to_python(text)


def _ids(model: type[models.Model]) -> dict[str, int]:
    return dict(model._default_manager.values_list("slug", "pk"))


def _add_offers(at: datetime) -> int:
    ids = [_ids(model) for model in (Supplier, GpuModel, Region)]
    known = set(Offer.objects.values_list(*OFFER_KEY))
    added = []
    for row in _rows("offers"):
        names = (row["supplier"], row["gpu"], row["region"])
        links = (known_as[name] for known_as, name in zip(ids, names, strict=True))
        key = (*links, int(row["gpus_per_node"]))
        if key not in known:
            added.append((_offer(key, row, at), row))
    offers = Offer.objects.bulk_create(offer for offer, _ in added)
    OfferPrice.objects.bulk_create(
        _first_price(offer, row, at)
        for offer, (_, row) in zip(offers, added, strict=True)
    )
    return len(offers)


def _offer(key: tuple[int, ...], row: dict[str, str], at: datetime) -> Offer:
    nodes = int(row["nodes"])
    fields = dict(zip(OFFER_KEY, key, strict=True))
    return Offer(
        **fields, nodes=nodes, free_nodes=nodes, listed_at=_since(row, default=at)
    )


def _first_price(offer: Offer, row: dict[str, str], at: datetime) -> OfferPrice:
    since = _since(row, default=at)
    return OfferPrice(
        offer=offer,
        hourly_price=Money(row["hourly_price"], row["currency"]),
        valid_from=since,
        confirmed_at=since,
        created_at=at,
    )


def _since(row: dict[str, str], *, default: datetime) -> datetime:
    day = row["price_date"]
    return datetime.combine(date.fromisoformat(day), time(), UTC) if day else default
