"""
Who is before whom: the order in which the requests for one kind of node are served.
"""

from decimal import Decimal
from typing import Any, NamedTuple

from django.conf import settings
from django.db.models import Case, Count, DecimalField, F, Q, QuerySet, Value, When
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast, Coalesce

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


def ranked(waiting: "QuerySet[Workspace]") -> "QuerySet[Any]":
    """
    Add the limit in the currency that the order book ranks in, as `rank`.

    It is the limit at the rate that was frozen in the quote, as the matching has it.
    """
    frozen = Cast(KeyTextTransform(BOOK_CURRENCY, "quote__exchange_rates"), _NUMBER)
    one = Value(Decimal(1), output_field=_NUMBER)
    rate = Case(
        When(currency=BOOK_CURRENCY, then=one),
        default=Coalesce(frozen, one),
        output_field=_NUMBER,
    )
    return waiting.annotate(
        rank=Cast(F("limit_price"), _NUMBER) / rate,
    )


def place_of(workspace: Workspace) -> QueuePlace | None:
    """
    Return which place it has while it waits, also before the opening; else None.

    Before it are the higher limits and, of equal ones, those that were funded earlier.
    """
    waiting = ranked(Workspace.objects.waiting())
    own = waiting.filter(pk=workspace.pk).values_list("rank", flat=True).first()
    if own is None:
        return None
    rivals = waiting.filter(
        gpu_id=workspace.gpu_id,
        gpus=workspace.gpus,
        regions__overlap=workspace.regions,
    ).order_by()
    earlier = Q(funded_at__lt=workspace.funded_at) | Q(
        funded_at=workspace.funded_at, pk__lt=workspace.pk
    )
    before = Q(rank__gt=own) | (Q(rank=own) & earlier)
    counts = rivals.aggregate(before=Count("pk", filter=before), of=Count("pk"))
    return QueuePlace(number=counts["before"] + 1, of=counts["of"])
