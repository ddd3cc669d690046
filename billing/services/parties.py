"""
What one party that is paid, such as a supplier, may see and set of its own.

A party is named by a string that only its owner understands, such as
"supplier:everxcloud"; who may act for it is decided by the caller.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Min, OuterRef, Q, QuerySet, Subquery, Sum
from django.db.models.functions import TruncDate
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from billing.models import Account, BankAccount, Payout, Transfer
from billing.services.payouts import EARNINGS, accounts_with_recent, payable_of
from billing.services.statements import BalanceLine, BalancePeriod, change_of

LABELS = {
    Transfer.Kind.USAGE: _("Hours billed"),
    Transfer.Kind.CAPTURE: _("Charge"),
    Transfer.Kind.REFUND: _("Refund"),
    Transfer.Kind.PAYOUT: _("Payout"),
    Transfer.Kind.PAYOUT_RETURN: _("Returned payout"),
    Transfer.Kind.WRITE_OFF: _("Written off"),
    Transfer.Kind.CORRECTION: _("Correction"),
}


class OwnAccount(Exception):
    """
    Who entered a bank account cannot be the one who approves it.
    """

    def __init__(self) -> None:
        super().__init__(
            _("You entered this account yourself. Somebody else has to approve it.")
        )


@dataclass(frozen=True, kw_only=True)
class PartyStanding:
    """
    What a party earned in all in one currency, what it has, and what left.

    `held` is what it earned in the last seven days, `payable` what leaves with the next
    run, `on_its_way` what a bank has not confirmed yet.
    """

    currency: str
    earned: Money
    balance: Money
    held: Money
    payable: Money
    on_its_way: Money
    paid: Money
    bank_account: BankAccount | None


@dataclass(frozen=True, kw_only=True)
class PartyLine(BalanceLine):
    """
    What changed a party's balance for one reason in one UTC day.
    """

    @property
    def label(self) -> str:
        """
        Say what happened, in the reader's language.
        """
        return str(LABELS.get(Transfer.Kind(self.kind), self.kind))


@dataclass(frozen=True, kw_only=True)
class PartyStatement(BalancePeriod):
    """
    What changed a party's balance.
    """

    lines: list[PartyLine]


def standings_of(*, party: str, at: datetime) -> list[PartyStanding]:
    """
    Return how the party stands in each currency in which it has anything.
    """
    banks = {row.currency: row for row in bank_accounts_of(party=party)}
    known = {account.currency: account for account in _accounts(party, at)}
    return [
        _standing(code, known.get(code), banks.get(code))
        for code in settings.CURRENCIES
        if code in known or code in banks
    ]


def payouts_of(*, party: str, limit: int = 100) -> list[Payout]:
    """
    Return the party's newest payouts.
    """
    return list(Payout.objects.filter(account__party=party).order_by("-pk")[:limit])


def statement_of_party(
    *, party: str, currency: str, from_at: datetime, to_at: datetime
) -> PartyStatement:
    """
    Return what changed the party's balance from `from_at` up to, not at, `to_at`.
    """
    own = Account.objects.filter(
        kind=Account.Kind.PAYABLE, party=party, currency=currency
    ).values("pk")
    moves = Transfer.objects.filter(Q(debit__in=own) | Q(credit__in=own))
    before = moves.filter(happened_at__lt=from_at).aggregate(sum=change_of(own))
    opening = Money(before["sum"] or 0, currency)
    within = moves.filter(happened_at__gte=from_at, happened_at__lt=to_at)
    return PartyStatement(opening=opening, lines=list(_lines(own, within, opening)))


def bank_accounts_of(*, party: str) -> list[BankAccount]:
    """
    Return where the party's payouts go, by currency.
    """
    return list(BankAccount.objects.filter(party=party).order_by("currency"))


def set_bank_account(
    *, party: str, currency: str, holder: str, number: str, bank_code: str
) -> BankAccount:
    """
    Say where the party's payouts in a currency go; payouts made before keep theirs.
    """
    account, _is_new = BankAccount.objects.update_or_create(
        party=party,
        currency=currency,
        defaults={
            "holder": holder,
            "number": number,
            "bank_code": bank_code,
            "entered_by": None,
            "approved_by": None,
        },
    )
    return account


@transaction.atomic
def approve_bank_account(*, account_id: int, actor_id: int) -> bool:
    """
    Let payouts go where another member of staff said; False if they do already.

    :raises OwnAccount: if the actor entered it
    """
    account = BankAccount.objects.select_for_update(no_key=True).get(pk=account_id)
    if account.is_trusted:
        return False
    if account.entered_by_id == actor_id:
        raise OwnAccount
    account.approved_by_id = actor_id
    account.save(update_fields=["approved_by"])
    return True


def _accounts(party: str, at: datetime) -> "QuerySet[Any]":
    """
    Return what the party has by currency, with what came in and what left.
    """
    earned = Q(credits__kind__in=EARNINGS)
    left = {
        name: Subquery(
            Payout.objects.filter(account=OuterRef("pk"), status=status)
            .values("account")
            .values(sum=Sum("amount"))
        )
        for name, status in [
            ("on_its_way", Payout.Status.PENDING),
            ("paid", Payout.Status.PAID),
        ]
    }
    rows: Any = accounts_with_recent(at).filter(party=party)
    own: QuerySet[Any] = rows.annotate(
        earned=Sum("credits__amount", filter=earned), **left
    )
    return own


def _standing(code: str, account: Any, bank: BankAccount | None) -> PartyStanding:
    nothing = Money(0, code)
    return PartyStanding(
        currency=code,
        earned=Money(account.earned or 0, code) if account else nothing,
        balance=account.balance if account else nothing,
        held=Money(account.recent, code) if account else nothing,
        payable=payable_of(account) if account else nothing,
        on_its_way=Money(account.on_its_way or 0, code) if account else nothing,
        paid=Money(account.paid or 0, code) if account else nothing,
        bank_account=bank,
    )


def _lines(
    own: "QuerySet[Any]", moves: QuerySet[Transfer], balance: Money
) -> Iterable[PartyLine]:
    """
    Put what happened for one reason on one day together: a rental bills every hour.
    """
    rows: Any = (
        moves.annotate(day=TruncDate("happened_at", tzinfo=UTC))
        .values("day", "kind", "reference")
        .annotate(at=Min("happened_at"), first=Min("pk"), amount=change_of(own))
        .order_by("day", "first")
    )
    for row in rows:
        amount = Money(row["amount"], balance.currency)
        balance += amount
        yield PartyLine(
            at=row["at"],
            kind=row["kind"],
            reference=row["reference"],
            amount=amount,
            balance=balance,
        )
