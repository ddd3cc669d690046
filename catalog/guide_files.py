"""
Loads the guides of `catalog/data/workloads/`: what they compare, and their texts.

A file that was not loaded before becomes a new version. It is published unless readers
see a version that staff wrote or chose: then it waits, and staff decide.
"""

import tomllib
from datetime import datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from catalog.guide_versions import PIECES, Content, publish_version, save_version
from catalog.models import GpuModel, Supplier, Workload, WorkloadGpu, WorkloadText


def add_guides(folder: Path, *, at: datetime) -> int:
    """
    Add the guides and the texts that are new and return how many texts were added.
    """
    gpus = {gpu.slug: gpu for gpu in GpuModel.objects.all()}
    texts = []
    for path in sorted(folder.glob("*.toml")):
        slug, _, language = path.stem.partition(".")
        if language:
            texts.append((slug, language, path.read_bytes()))
        else:
            _add_workload(slug, tomllib.loads(path.read_text()), gpus)
    known = set(
        WorkloadText.objects.values_list("workload__slug", "language", "digest")
    )
    added = 0
    for slug, language, file in texts:
        digest = sha256(file).hexdigest()
        if (slug, language, digest) not in known:
            content = _content(tomllib.loads(file.decode()), gpus)
            _add_text(slug, language, content, digest=digest, at=at)
            added += 1
    return added


def _add_workload(slug: str, data: dict[str, Any], gpus: dict[str, GpuModel]) -> None:
    supplier = data.get("example_supplier")
    workload, is_new = Workload.objects.get_or_create(
        slug=slug,
        defaults={
            "position": data["position"],
            "is_published": True,
            "table": data["table"],
            "example_gpu": gpus[data["example_gpu"]],
            "example_supplier": Supplier.objects.get(slug=supplier)
            if supplier
            else None,
        },
    )
    if is_new:
        WorkloadGpu.objects.bulk_create(
            WorkloadGpu(workload=workload, gpu=gpus[gpu], position=number)
            for number, gpu in enumerate(data["gpus"], start=1)
        )


def _content(data: dict[str, Any], gpus: dict[str, GpuModel]) -> Content:
    pieces = {
        name: [_piece(piece, gpus) for piece in data.pop(name)] for name in PIECES
    }
    return Content(fields=data, pieces=pieces)


def _piece(piece: str | dict[str, str], gpus: dict[str, GpuModel]) -> dict[str, Any]:
    if isinstance(piece, str):
        return {"body": piece}
    fields: dict[str, Any] = dict(piece)
    if "gpu" in fields:
        fields["gpu"] = gpus[fields["gpu"]]
    return fields


def _add_text(
    slug: str, language: str, content: Content, *, digest: str, at: datetime
) -> None:
    workload = Workload.objects.get(slug=slug)
    shown = WorkloadText.objects.filter(
        workload=workload, language=language, is_published=True
    ).first()
    text = save_version(
        workload_id=workload.pk,
        language=language,
        content=content,
        digest=digest,
        at=at,
    )
    if shown is None or (shown.digest and shown.published_by_id is None):
        publish_version(text_id=text.pk, at=at)
