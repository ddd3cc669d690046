"""
What went in and out of a wallet, line by line, with balances that add up.

The balance of a statement is everything in the wallet, held or not: setting money
aside changes what is available and not the balance.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import Case, DecimalField, F, Min, Q, QuerySet, Sum, Value, When
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from billing.models import Transfer, Wallet
from billing.services.wallets import find_wallet, read_wallet

LABELS = {
    Transfer.Kind.TOP_UP: _("Top-up"),
    Transfer.Kind.HOLD: _("Held"),
    Transfer.Kind.RELEASE: _("Given back"),
    Transfer.Kind.USAGE: _("Usage"),
    Transfer.Kind.CAPTURE: _("Charge"),
    Transfer.Kind.REFUND: _("Refund to the card"),
    Transfer.Kind.DISPUTE: _("Disputed payment"),
    Transfer.Kind.PROMOTION: _("Gift"),
    Transfer.Kind.WRITE_OFF: _("Written off"),
    Transfer.Kind.CORRECTION: _("Correction"),
}
ZERO = Value(Decimal(0), output_field=DecimalField())


@dataclass(frozen=True, kw_only=True)
class BalanceLine:
    """
    One thing that happened; `amount` is what it changed the balance by.
    """

    at: datetime
    kind: str
    reference: str
    amount: Money
    balance: Money

    @property
    def subject(self) -> tuple[str, str]:
        """
        Split what it was for into its kind and its name: ("workspace", "<uuid>").
        """
        kind, _colon, name = self.reference.partition(":")
        return kind, name


@dataclass(frozen=True, kw_only=True)
class Line(BalanceLine):
    """
    The same of a wallet, with what was set aside.
    """

    set_aside: Money
    available: Money

    @property
    def label(self) -> str:
        """
        Say what happened, in the reader's language.
        """
        return str(LABELS[Transfer.Kind(self.kind)])


@dataclass(frozen=True, kw_only=True)
class BalancePeriod:
    """
    The lines of a half-open period, in the order in which they happened.
    """

    opening: Money
    lines: Sequence[BalanceLine]

    @property
    def closing(self) -> Money:
        return self.lines[-1].balance if self.lines else self.opening

    @property
    def money_in(self) -> Money:
        return self._sum(row.amount for row in self.lines if row.amount.amount > 0)

    @property
    def money_out(self) -> Money:
        return self._sum(row.amount for row in self.lines if row.amount.amount < 0)

    def _sum(self, amounts: Iterable[Money]) -> Money:
        return sum(amounts, Money(0, self.opening.currency))


@dataclass(frozen=True, kw_only=True)
class Statement(BalancePeriod):
    """
    What happened in a wallet.
    """

    to_at: datetime
    lines: list[Line]


def statement_of(
    *, user_id: int, currency: str, from_at: datetime, to_at: datetime
) -> Statement:
    """
    Return what happened in the user's wallet from `from_at` up to, not at, `to_at`.

    :raises billing.services.wallets.NoSuchWallet: if the user has none
    """
    wallet = find_wallet(user_id=user_id, currency=currency)
    before = _moves(wallet).filter(happened_at__lt=from_at)
    available, held = _sums(wallet, before)
    within = _moves(wallet).filter(happened_at__gte=from_at, happened_at__lt=to_at)
    lines = list(_lines(wallet, within, available=available, held=held))
    return Statement(to_at=to_at, opening=available + held, lines=lines)


def latest_lines(*, user_id: int, currency: str, number: int) -> list[Line]:
    """
    Return the last lines of the user's wallet, the newest first.

    :raises billing.services.wallets.NoSuchWallet: if the user has none
    """
    wallet = read_wallet(user_id=user_id, currency=currency)
    rows = list(_grouped(wallet, _moves(wallet)).order_by("-at", "-first")[:number])
    available = wallet.available.balance
    held = wallet.held.balance
    for row in rows:
        available -= Money(row["to_available"], currency)
        held -= Money(row["to_held"], currency)
    lines = list(_run(reversed(rows), currency, available=available, held=held))
    return lines[::-1]


def _moves(wallet: Wallet) -> QuerySet[Transfer]:
    ours = [wallet.available_id, wallet.held_id]
    return Transfer.objects.filter(Q(debit__in=ours) | Q(credit__in=ours))


def change_of(accounts: "list[int] | QuerySet[Any]") -> Sum:
    """
    Add up what transfers changed the balance of these accounts by.
    """
    return Sum(
        Case(
            When(credit__in=accounts, then=F("amount")),
            When(debit__in=accounts, then=-F("amount")),
            default=ZERO,
            output_field=DecimalField(),
        )
    )


def _sums(wallet: Wallet, moves: QuerySet[Transfer]) -> tuple[Money, Money]:
    sums = moves.aggregate(
        available=change_of([wallet.available_id]), held=change_of([wallet.held_id])
    )
    return (
        Money(sums["available"] or 0, wallet.currency),
        Money(sums["held"] or 0, wallet.currency),
    )


def _grouped(wallet: Wallet, moves: QuerySet[Transfer]) -> Any:
    """
    Put the transfers of one verb together: a charge is one line, not payee and fee.
    """
    return moves.values("group", "reference").annotate(
        first=Min("pk"),
        at=Min("happened_at"),
        what=Min("kind"),
        to_available=change_of([wallet.available_id]),
        to_held=change_of([wallet.held_id]),
    )


def _lines(
    wallet: Wallet, moves: QuerySet[Transfer], *, available: Money, held: Money
) -> Iterable[Line]:
    rows = _grouped(wallet, moves).order_by("at", "first").iterator()
    return _run(rows, wallet.currency, available=available, held=held)


def _run(
    rows: Iterable[dict[str, Any]], currency: str, *, available: Money, held: Money
) -> Iterable[Line]:
    for row in rows:
        to_available = Money(row["to_available"], currency)
        to_held = Money(row["to_held"], currency)
        available += to_available
        held += to_held
        yield Line(
            at=row["at"],
            kind=row["what"],
            reference=row["reference"],
            amount=to_available + to_held,
            set_aside=to_held,
            balance=available + held,
            available=available,
        )
