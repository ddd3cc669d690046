"""
What staff watch: the sums of the books and what waits for a person.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db.models import F, OuterRef, Subquery, Sum
from django.db.models.functions import Coalesce
from djmoney.money import Money

from billing.models import Account, ProviderEvent, ProviderMovement, Reconciliation
from billing.services.payouts import BANK

EVENTS_SHOWN = 50
MOVEMENTS_SHOWN = 20
# One night may be missed before it is told.
COMPARISON_IS_LATE_AFTER = timedelta(hours=49)


@dataclass(frozen=True, kw_only=True)
class Total:
    """
    The balances of all accounts of one kind in one currency: credits less debits.
    """

    label: str
    amount: Money


@dataclass(frozen=True, kw_only=True)
class ProviderTotal:
    """
    What a payment provider keeps for us in one currency: by its books, and by ours.
    """

    provider: str
    theirs: Money
    ours: Money

    @property
    def difference(self) -> Money:
        """
        What one side knows and the other does not, or not yet.
        """
        return self.theirs - self.ours


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """
    Where the ledger stands against the payment providers, and when that was asked.
    """

    totals: list[ProviderTotal]
    until_at: datetime | None
    is_late: bool


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


def other_movements() -> list[ProviderMovement]:
    """
    Return what providers call something else: first what nobody has explained yet.
    """
    rows = ProviderMovement.objects.filter(category=ProviderMovement.Category.OTHER)
    newest = F("explained_at").desc(nulls_first=True)
    return list(
        rows.select_related("explained_by").order_by(newest, "-pk")[:MOVEMENTS_SHOWN]
    )


def comparison(*, at: datetime) -> Comparison:
    """
    Return what the providers keep for us, by their books and by ours.
    """
    moved = ProviderMovement.objects.filter(
        provider=OuterRef("party"), currency=OuterRef("currency")
    )
    theirs = moved.values("provider").annotate(sum=Sum(F("amount") - F("fee")))
    runs = Reconciliation.objects.filter(provider=OuterRef("party"))
    accounts = (
        Account.objects.filter(kind=Account.Kind.CLEARING)
        .exclude(party=BANK)
        .annotate(
            theirs=Coalesce(Subquery(theirs.values("sum")), Decimal(0)),
            until_at=Subquery(runs.values("until_at")),
        )
        .order_by("party", "currency")
    )
    times = [account.until_at for account in accounts]
    until_at = None if None in times else min(times, default=None)
    is_late = until_at is None or at - until_at > COMPARISON_IS_LATE_AFTER
    return Comparison(
        totals=[
            ProviderTotal(
                provider=account.party,
                theirs=Money(account.theirs, account.currency),
                ours=-account.balance,
            )
            for account in accounts
        ],
        until_at=until_at,
        is_late=bool(times) and is_late,
    )
