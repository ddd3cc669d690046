"""
Which nodes of an offer are free: only ever changed by guarded updates.
"""

from datetime import datetime

from django.db.models import Case, F, Q, QuerySet, Value, When
from django.db.models.functions import Greatest
from django.utils.translation import gettext as _

from catalog.models import Offer

ONE_LESS_LEAVES = Greatest(0, F("leaving_nodes") - 1)
# One, unless more nodes are taken than the offer has.
NONE_LEAVES = Case(When(leaving_nodes=0, then=Value(1)), default=Value(0))


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
    Give a taken node back; while more are taken than the offer has, it is not let again.
    """
    _taken(offer_id).update(
        free_nodes=F("free_nodes") + NONE_LEAVES,
        free_changed_at=Case(
            When(leaving_nodes=0, then=Value(at)), default=F("free_changed_at")
        ),
        leaving_nodes=ONE_LESS_LEAVES,
    )


def withdraw_node(*, offer_id: int) -> None:
    """
    Take a taken node off the offer for good: it has one node less.

    While more are taken than the offer has, it is one of those that it has no more.
    """
    _taken(offer_id).update(
        nodes=F("nodes") - NONE_LEAVES, leaving_nodes=ONE_LESS_LEAVES
    )


def set_nodes(*, offer_id: int, nodes: int, at: datetime) -> None:
    """
    Change how many nodes the offer has; those that are taken stay taken.
    """
    taken = F("nodes") + F("leaving_nodes") - F("free_nodes")
    free = Greatest(0, nodes - taken)
    Offer.objects.filter(pk=offer_id).update(
        nodes=nodes,
        free_nodes=free,
        leaving_nodes=Greatest(0, taken - nodes),
        free_changed_at=Case(
            When(free_nodes=free, then=F("free_changed_at")), default=Value(at)
        ),
    )


def _taken(offer_id: int) -> QuerySet[Offer]:
    is_taken = Q(free_nodes__lt=F("nodes")) | Q(leaving_nodes__gt=0)
    return Offer.objects.filter(is_taken, pk=offer_id)
