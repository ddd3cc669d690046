"""
Writes the versions of the guides' texts: saving adds one, publishing chooses one.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Max

from catalog.models import Workload, WorkloadBlock, WorkloadText

if TYPE_CHECKING:
    from marketplace.models import User

Kind = WorkloadBlock.Kind

# The lists of a guide by their name in its data file, in the order in which it is read.
PIECES = {
    "topic": Kind.TOPIC,
    "decision": Kind.DECISION,
    "best_for": Kind.BEST_FOR,
    "not_for": Kind.NOT_FOR,
    "step": Kind.STEP,
    "shortlist": Kind.SHORTLIST,
    "question": Kind.QUESTION,
    "source": Kind.SOURCE,
}


@dataclass(frozen=True, kw_only=True)
class Content:
    """
    What a version says: fields of `WorkloadText`, and by name of `PIECES` the fields of
    each `WorkloadBlock`.
    """

    fields: Mapping[str, Any]
    pieces: Mapping[str, Sequence[Mapping[str, Any]]]


@transaction.atomic
def save_version(
    *,
    workload_id: int,
    language: str,
    content: Content,
    at: datetime,
    actor: "User | None" = None,
    note: str = "",
    digest: str = "",
) -> WorkloadText:
    """
    Add a version with the next number; readers do not see it before it is published.

    :raises Workload.DoesNotExist: if there is no such guide
    """
    # Two who save at once get two numbers.
    workload = Workload.objects.select_for_update().get(pk=workload_id)
    texts = WorkloadText.objects.filter(workload=workload, language=language)
    newest = texts.aggregate(newest=Max("number"))["newest"] or 0
    text = WorkloadText.objects.create(
        workload=workload,
        language=language,
        number=newest + 1,
        created_at=at,
        created_by=actor,
        note=note,
        digest=digest,
        **content.fields,
    )
    WorkloadBlock.objects.bulk_create(
        WorkloadBlock(text=text, kind=kind, position=position, **fields)
        for name, kind in PIECES.items()
        for position, fields in enumerate(content.pieces[name], start=1)
    )
    return text


@transaction.atomic
def publish_version(
    *, text_id: int, at: datetime, actor: "User | None" = None
) -> WorkloadText:
    """
    Show this version to readers, instead of the one that they see now.

    An older version is published in the same way: that is how a change is undone.

    :raises WorkloadText.DoesNotExist: if there is no such version
    """
    text = WorkloadText.objects.get(pk=text_id)
    Workload.objects.select_for_update().get(pk=text.workload_id)
    shown = WorkloadText.objects.filter(
        workload_id=text.workload_id, language=text.language, is_published=True
    )
    shown.exclude(pk=text.pk).update(is_published=False)
    text.is_published, text.published_at, text.published_by = True, at, actor
    text.save(update_fields=["is_published", "published_at", "published_by"])
    return text


def content_of(text: WorkloadText) -> Content:
    """
    Return what a version says, to start the next one from.
    """
    names = {kind: name for name, kind in PIECES.items()}
    pieces: dict[str, list[dict[str, Any]]] = {name: [] for name in PIECES}
    for block in text.blocks.select_related("gpu").order_by("position"):
        fields = {
            name: getattr(block, name) for name in ("title", "body", "note", "url")
        }
        pieces[names[Kind(block.kind)]].append({**fields, "gpu": block.gpu})
    written = ("title", "summary", "lead", "answer", "reviewed_by", "reviewed_date")
    return Content(
        fields={name: getattr(text, name) for name in written}, pieces=pieces
    )
