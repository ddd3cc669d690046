"""
Adds the rows of `catalog/data/` that the database does not have yet.

Rows are found by natural keys. A row that exists is left alone, whatever the file
says: staff may have changed it since.
"""

import csv
import tomllib
from collections.abc import Iterable
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

from django.contrib.postgres.fields import ArrayField
from django.db import models, transaction
from djmoney.money import Money

from catalog.models import (
    BaseModel,
    GpuModel,
    Image,
    Offer,
    OfferPrice,
    Region,
    StoragePlan,
    Supplier,
    Workload,
    WorkloadBlock,
    WorkloadGpu,
    WorkloadText,
)

DATA = Path(__file__).parent / "data"
OFFER_KEY = ("supplier_id", "gpu_id", "region_id", "gpus_per_node")

# The tables of a guide's text file, in the order in which they are loaded.
BLOCKS = {
    "topic": WorkloadBlock.Kind.TOPIC,
    "decision": WorkloadBlock.Kind.DECISION,
    "best_for": WorkloadBlock.Kind.BEST_FOR,
    "not_for": WorkloadBlock.Kind.NOT_FOR,
    "step": WorkloadBlock.Kind.STEP,
    "shortlist": WorkloadBlock.Kind.SHORTLIST,
    "question": WorkloadBlock.Kind.QUESTION,
    "source": WorkloadBlock.Kind.SOURCE,
}


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
        "guide texts": _add_guides(),
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


def _add_guides() -> int:
    folder = DATA / "workloads"
    added = 0
    for path in sorted(folder.glob("*.toml")):
        slug, _, language = path.stem.partition(".")
        if not language:
            _add_workload(slug, tomllib.loads(path.read_text()))
    known = set(WorkloadText.objects.values_list("workload__slug", "language"))
    for path in sorted(folder.glob("*.*.toml")):
        slug, _, language = path.stem.partition(".")
        if (slug, language) not in known:
            _add_text(slug, language, tomllib.loads(path.read_text()))
            added += 1
    return added


def _add_workload(slug: str, data: dict[str, Any]) -> None:
    gpus, suppliers = _ids(GpuModel), _ids(Supplier)
    workload, is_new = Workload.objects.get_or_create(
        slug=slug,
        defaults={
            "position": data["position"],
            "is_published": True,
            "example_gpu_id": gpus[data["example_gpu"]],
            "example_supplier_id": suppliers[data["example_supplier"]],
        },
    )
    if is_new:
        WorkloadGpu.objects.bulk_create(
            WorkloadGpu(workload=workload, gpu_id=gpus[gpu], position=number)
            for number, gpu in enumerate(data["gpus"], start=1)
        )


def _add_text(slug: str, language: str, data: dict[str, Any]) -> None:
    gpus = _ids(GpuModel)
    pieces = {name: data.pop(name) for name in BLOCKS}
    text = WorkloadText.objects.create(
        workload=Workload.objects.get(slug=slug), language=language, **data
    )
    WorkloadBlock.objects.bulk_create(
        _block(text, kind, position, piece, gpus)
        for name, kind in BLOCKS.items()
        for position, piece in enumerate(pieces[name], start=1)
    )


def _block(
    text: WorkloadText, kind: str, position: int, piece: Any, gpus: dict[str, int]
) -> WorkloadBlock:
    fields = {"body": piece} if isinstance(piece, str) else dict(piece)
    if "gpu" in fields:
        fields["gpu_id"] = gpus[fields.pop("gpu")]
    return WorkloadBlock(text=text, kind=kind, position=position, **fields)
