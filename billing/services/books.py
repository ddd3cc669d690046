"""
What staff watch: the sums of the books and what waits for a person.
"""

from dataclasses import dataclass

from django.db.models import Sum
from djmoney.money import Money

from billing.models import Account, ProviderEvent

EVENTS_SHOWN = 50


@dataclass(frozen=True, kw_only=True)
class Total:
    """
    The balances of all accounts of one kind in one currency: credits less debits.
    """

    label: str
    amount: Money


def totals() -> list[Total]:
    """
    Return the totals by currency and kind of account, without empty ones.
    """
    rows = (
        Account.objects.values("currency", "kind")
        .annotate(sum=Sum("balance"))
        .exclude(sum=0)
        .order_by("currency", "kind")
    )
    return [
        Total(
            label=str(Account.Kind(row["kind"]).label),
            amount=Money(row["sum"], row["currency"]),
        )
        for row in rows
    ]


def events_for_person() -> list[ProviderEvent]:
    """
    Return the newest provider events that were not acted on: somebody has to look.
    """
    rows = ProviderEvent.objects.filter(state=ProviderEvent.State.QUARANTINED)
    return list(rows.order_by("-received_at", "-pk")[:EVENTS_SHOWN])
