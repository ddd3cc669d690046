"""
Many nodes of a supplier at once, from a file: all of them or none.
"""

from datetime import datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.utils.translation import gettext as _

from catalog.models import NodeFile, Supplier
from catalog.node_files import NodePlan, plan_nodes, read_nodes
from catalog.price_plans import Outcome
from catalog.services.listings import change_nodes, list_nodes
from catalog.services.price_lists import FileApplied

if TYPE_CHECKING:
    from marketplace.models import User


class NodesRefused(Exception):
    """
    A file of nodes cannot be applied as it was looked at; nothing is saved.
    """


def keep_node_file(
    *, supplier_id: int, name: str, content: str, actor: "User", at: datetime
) -> NodeFile:
    """
    Keep an uploaded file of nodes so that it can be looked at and then applied.

    :raises catalog.uploads.FileRefused: if it is no file of nodes
    """
    read_nodes(content)
    return NodeFile.objects.create(
        supplier_id=supplier_id,
        name=name[:200],
        content=content,
        uploaded_by=actor,
        uploaded_at=at,
    )


@transaction.atomic
def apply_node_file(
    *, file_id: UUID, actor: "User", at: datetime, digest: str
) -> NodePlan:
    """
    List and change the nodes of a kept file, all or none, if it is as looked at.

    :raises FileApplied: if that was done before
    :raises NodesRefused: if a line is refused, or something changed since `digest`
    """
    file = NodeFile.objects.select_for_update().get(pk=file_id)
    if file.applied_at:
        raise FileApplied(_("This file was applied before; nothing is changed twice."))
    Supplier.objects.select_for_update().get(pk=file.supplier_id)
    lines = read_nodes(file.content)
    plan = plan_nodes(lines, supplier_id=file.supplier_id, at=at)
    if plan.counts[Outcome.REFUSED]:
        raise NodesRefused(_("Nothing is saved: some of these lines are refused."))
    if digest != plan.digest:
        raise NodesRefused(
            _(
                "Nothing is saved: your nodes have changed since you looked. This is"
                " what the file would change now."
            )
        )
    for row in plan.written:
        wanted = row.line.wanted
        assert wanted is not None
        # All lines are held against what was asked before the first of them.
        rest: dict[str, Any] = {
            "wanted": wanted,
            "actor": actor,
            "at": at,
            "medians": plan.medians,
        }
        if row.offer_id is None:
            list_nodes(supplier_id=file.supplier_id, **rest)
        else:
            change_nodes(offer_id=row.offer_id, **rest)
    NodeFile.objects.filter(pk=file_id).update(applied_at=at)
    return plan
