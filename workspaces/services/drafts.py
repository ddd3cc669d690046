"""
Requests that are put aside before they are finished.
"""

from datetime import datetime
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from catalog.models import BaseModel, GpuModel
from workspaces.models import Draft

if TYPE_CHECKING:
    from marketplace.models import User

MOST_DRAFTS = 50
LONGEST_TEXT = 2000


class TooManyDrafts(Exception):
    """
    The account has as many drafts as it may have.
    """

    def __init__(self) -> None:
        super().__init__(_("You have 50 drafts. Delete one of them first."))


@transaction.atomic
def save_draft(
    *, user: "User", typed: dict[str, list[str]], at: datetime, draft_id: UUID | None
) -> Draft:
    """
    Put aside what was typed, in place of an earlier draft of the user if one is named.

    :raises TooManyDrafts: if the user has 50 already
    """
    kept = {name: [text[:LONGEST_TEXT] for text in typed[name]] for name in typed}
    values = {"name": _name_of(kept), "typed": kept, "saved_at": at}
    drafts = Draft.objects.filter(user=user)
    earlier = drafts.filter(pk=draft_id).first() if draft_id else None
    if earlier is None:
        if drafts.count() >= MOST_DRAFTS:
            raise TooManyDrafts
        return Draft.objects.create(user=user, **values)
    for name, value in values.items():
        setattr(earlier, name, value)
    earlier.save(update_fields=[*values])
    return earlier


def _name_of(typed: dict[str, list[str]]) -> str:
    """
    Return what a list calls the draft: its model and its GPU, as far as chosen.
    """
    model = BaseModel.objects.filter(slug=_first(typed, "base_model")).first()
    gpu = GpuModel.objects.filter(slug=_first(typed, "gpu")).first()
    parts = [str(part) for part in (model, gpu) if part is not None]
    return ", ".join(parts)[:120] or _("Untitled request")


def _first(typed: dict[str, list[str]], name: str) -> str:
    return (typed.get(name) or [""])[0]
