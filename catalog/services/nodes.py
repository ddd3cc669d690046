"""
Which nodes of an offer are free: only ever changed by guarded updates.
"""

from datetime import datetime

from django.db.models import Case, F, Value, When
from django.db.models.functions import Greatest, Least
from django.utils.translation import gettext as _

from catalog.models import Offer


class NoFreeNode(Exception):
    """
    Every node of the offer is taken.
    """

    def __init__(self) -> None:
        super().__init__(_("No node of this offer is free any more. Choose another."))


def take_node(*, offer_id: int, at: datetime) -> None:
    """
    Take one free node of the offer.

    :raises NoFreeNode: if none is free
    """
    free = Offer.objects.filter(pk=offer_id, free_nodes__gt=0)
    if not free.update(free_nodes=F("free_nodes") - 1, free_changed_at=at):
        raise NoFreeNode


def return_node(*, offer_id: int, at: datetime) -> None:
    """
    Give a taken node back; a node that the supplier has withdrawn stays withdrawn.
    """
    taken = Offer.objects.filter(pk=offer_id, free_nodes__lt=F("nodes"))
    taken.update(free_nodes=F("free_nodes") + 1, free_changed_at=at)


def withdraw_node(*, offer_id: int) -> None:
    """
    Take a taken node off the offer for good: it has one node less.
    """
    taken = Offer.objects.filter(pk=offer_id, free_nodes__lt=F("nodes"))
    taken.update(nodes=F("nodes") - 1)


def set_nodes(*, offer_id: int, nodes: int, at: datetime) -> None:
    """
    Change how many nodes the offer has; those that are taken stay taken.
    """
    free = Greatest(0, Least(F("free_nodes") + nodes - F("nodes"), nodes))
    Offer.objects.filter(pk=offer_id).update(
        nodes=nodes,
        free_nodes=free,
        free_changed_at=Case(
            When(free_nodes=free, then=F("free_changed_at")), default=Value(at)
        ),
    )
