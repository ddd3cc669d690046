"""
Payouts: what suppliers earned leaves for their banks once a week.

A week's payout of a party and currency is what it has, less what it earned in the
last seven days. What it owes is part of what it has, so debts are netted against
later earnings. Money is debited when the file for the bank is made, and comes back if
the bank sends it back.
"""

from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from django.db import transaction
from django.db.models import DecimalField, Q, QuerySet, Sum, Value
from django.db.models.functions import Coalesce
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing.ledger import Entry, lock_accounts, open_account, post, retry_conflicts
from billing.models import Account, BankAccount, Payout, Transfer

HELD_FOR = timedelta(days=7)
EARNINGS = [Transfer.Kind.USAGE, Transfer.Kind.CAPTURE]
BANK = "bank"
ZERO = Value(Decimal(0), output_field=DecimalField())


class PayoutReturned(Exception):
    """
    The bank sent the payout back before.
    """

    def __init__(self) -> None:
        super().__init__(_("The bank sent this payout back already."))


@dataclass(frozen=True)
class Earnings:
    """
    What a party has, what of it is still held, and what can leave now.
    """

    party: str
    holder: str
    is_bank_account_trusted: bool
    balance: Money
    held: Money
    payable: Money

    @property
    def has_bank_account(self) -> bool:
        return bool(self.holder)

    @property
    def name(self) -> str:
        """
        Return the holder of its bank account or, until one is known, its own code.
        """
        return self.holder or self.party.rpartition(":")[2]


def earnings(*, at: datetime) -> list[Earnings]:
    """
    Return every party's earnings that are not zero, by currency and party.
    """
    known = {(bank.party, bank.currency): bank for bank in BankAccount.objects.all()}
    return [
        _earnings(account, known.get((account.party, account.currency)))
        for account in accounts_with_recent(at)
        .exclude(balance=0)
        .order_by("currency", "party")
    ]


def _earnings(account: Any, bank: BankAccount | None) -> Earnings:
    return Earnings(
        party=account.party,
        holder=bank.holder if bank else "",
        is_bank_account_trusted=bank is not None and bank.is_trusted,
        balance=account.balance,
        held=Money(account.recent, account.currency),
        payable=payable_of(account),
    )


def accounts_with_recent(at: datetime) -> "QuerySet[Any]":
    """
    Return all payable accounts, each with what was earned in the last seven days.
    """
    recent = Q(credits__kind__in=EARNINGS, credits__happened_at__gt=at - HELD_FOR)
    accounts = Account.objects.filter(kind=Account.Kind.PAYABLE)
    return accounts.annotate(
        recent=Coalesce(Sum("credits__amount", filter=recent), ZERO)
    )


def payable_of(account: Any) -> Money:
    """
    Return what can leave of an account that was read with what it earned lately.
    """
    payable = max(account.balance.amount - account.recent, Decimal(0))
    return Money(payable, account.currency)


def week_of(at: datetime) -> date:
    """
    Return the Monday of the week, in UTC.
    """
    day = at.astimezone(UTC).date()
    return day - timedelta(days=day.weekday())


def run_payouts(*, at: datetime) -> list[Payout]:
    """
    Pay out what is due, once a week for each party and currency; return the new ones.

    Parties without a bank account that is trusted keep what they have. Run again, it
    only adds what was missed, or what the bank sent back since.
    """
    due = [
        (row.party, str(row.balance.currency))
        for row in earnings(at=at)
        if row.payable.amount and row.is_bank_account_trusted
    ]
    payouts = [_pay_out(party, currency, at=at) for party, currency in due]
    return [payout for payout in payouts if payout is not None]


@retry_conflicts
@transaction.atomic
def _pay_out(party: str, currency: str, *, at: datetime) -> Payout | None:
    # Staff change it in this moment, or not: locked, it is what is looked at here.
    trusted = BankAccount.objects.trusted().select_for_update(no_key=True)
    to = trusted.filter(party=party, currency=currency).first()
    if to is None:
        return None
    bank = open_account(Account.Kind.CLEARING, currency, BANK)
    own = Account.objects.get(kind=Account.Kind.PAYABLE, party=party, currency=currency)
    lock_accounts([own, bank])
    # Asked again under the lock: another run may have been faster.
    own = accounts_with_recent(at).get(pk=own.pk)
    week = week_of(at)
    is_done = Payout.objects.standing().filter(account=own, week_date=week).exists()
    amount = payable_of(own)
    if is_done or not amount.amount:
        return None
    payout = Payout.objects.create(
        account=own,
        amount=amount,
        week_date=week,
        holder=to.holder,
        number=to.number,
        bank_code=to.bank_code,
        created_at=at,
    )
    entry = Entry(own, bank, amount, Transfer.Kind.PAYOUT, "out")
    post([entry], key=f"payout:{payout.pk}", at=at, reference=f"payout:{payout.pk}")
    return payout


@retry_conflicts
@transaction.atomic
def mark_payout_paid(*, payout_id: int, at: datetime) -> None:
    """
    Note that the bank has paid; again changes nothing.

    :raises PayoutReturned: if the bank sent it back before
    """
    payout = _lock_payout(payout_id)
    if payout.status == Payout.Status.RETURNED:
        raise PayoutReturned
    pending = Payout.objects.filter(pk=payout_id, status=Payout.Status.PENDING)
    pending.update(status=Payout.Status.PAID, paid_at=at)


@retry_conflicts
@transaction.atomic
def return_payout(*, payout_id: int, reason: str, at: datetime) -> None:
    """
    Give what the bank sent back to the party, due at once; again changes nothing.

    The bank may reject a payout, or send it back after it had said that it paid.
    """
    payout = _lock_payout(payout_id)
    if payout.status == Payout.Status.RETURNED:
        return
    bank = open_account(Account.Kind.CLEARING, payout.currency, BANK)
    lock_accounts([bank, payout.account_id])
    kind = Transfer.Kind.PAYOUT_RETURN
    entry = Entry(bank, payout.account, payout.amount, kind, "back")
    reference = f"payout:{payout.pk}"
    post([entry], key=reference, at=at, reference=reference)
    Payout.objects.filter(pk=payout_id).update(
        status=Payout.Status.RETURNED, returned_at=at, reason=reason
    )


def _lock_payout(payout_id: int) -> Payout:
    return Payout.objects.select_for_update(no_key=True).get(pk=payout_id)


def recent_payouts(*, limit: int = 100) -> list[Payout]:
    """
    Return the newest payouts, with their accounts.
    """
    return list(Payout.objects.select_related("account").order_by("-pk")[:limit])


def bank_file_rows(*, currency: str, week: date) -> list[list[str | Money]]:
    """
    Return the rows of the file that tells the bank what to pay.

    Holder, number, bank code, amount, currency and what the receiver reads.
    """
    payouts = Payout.objects.filter(
        currency=currency, week_date=week, status=Payout.Status.PENDING
    )
    return [
        [
            payout.holder,
            payout.number,
            payout.bank_code,
            payout.amount,
            payout.currency,
            f"Payout {payout.pk}, week of {payout.week_date}",
        ]
        for payout in payouts.order_by("pk")
    ]
