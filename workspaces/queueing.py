"""
Who is before whom: the order in which the requests for one kind of node are served.
"""

from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import (
    Case,
    Count,
    DecimalField,
    F,
    OuterRef,
    Q,
    QuerySet,
    Subquery,
    Value,
    When,
)
from django.db.models.expressions import Combinable
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce, JSONObject

from workspaces.models import Workspace

BOOK_CURRENCY = settings.CURRENCIES[0]
"""What limits in different currencies are ranked in."""

_NUMBER: "DecimalField[Decimal, Decimal]" = DecimalField(
    max_digits=30, decimal_places=12
)


class QueuePlace(NamedTuple):
    """
    Its number among all that wait for a node of this GPU and size in its regions.
    """

    number: int
    of: int


def rank() -> Combinable:
    """
    Return the limit as SQL in the currency that the order book ranks in.

    It is the limit at the rate that was frozen in the quote, as the matching has it.
    """
    frozen = Cast(KeyTextTransform(BOOK_CURRENCY, "quote__exchange_rates"), _NUMBER)
    one = Value(Decimal(1), output_field=_NUMBER)
    rate = Case(
        When(currency=BOOK_CURRENCY, then=one),
        default=Coalesce(frozen, one),
        output_field=_NUMBER,
    )
    return Cast(F("limit_price"), _NUMBER) / rate


def ranked(waiting: "QuerySet[Workspace]") -> "QuerySet[Any]":
    """
    Add the `rank` of each.
    """
    return waiting.annotate(rank=rank())


def place() -> Subquery:
    """
    Return as SQL which place a workspace with its `rank` has among all that wait.

    Before it are the higher limits and, of equal ones, those that were funded earlier.
    """
    rivals = ranked(Workspace.objects.waiting()).filter(
        gpu_id=OuterRef("gpu_id"),
        gpus=OuterRef("gpus"),
        regions__overlap=OuterRef("regions"),
    )
    earlier = Q(funded_at__lt=OuterRef("funded_at")) | Q(
        funded_at=OuterRef("funded_at"), pk__lt=OuterRef("pk")
    )
    before = Q(rank__gt=OuterRef("rank")) | (Q(rank=OuterRef("rank")) & earlier)
    # One group of all, as an aggregate cannot stand alone in a subquery.
    counts = rivals.order_by().annotate(group=Value(1)).values("group")
    return Subquery(
        counts.annotate(
            place=JSONObject(
                number=Count("pk", filter=before) + 1,
                of=Count("pk"),
            )
        ).values("place")
    )


def place_of(workspace: Workspace) -> QueuePlace | None:
    """
    Return which place it has while it waits, also before the opening; else None.
    """
    waiting = ranked(Workspace.objects.waiting()).filter(pk=workspace.pk)
    found = waiting.annotate(place=place()).values_list("place", flat=True).first()
    return QueuePlace(**found) if found else None
