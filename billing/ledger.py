"""
The one writer of accounts and transfers, and the one place that locks accounts.

Locks are taken in one order everywhere: meters, holds, accounts, each by ascending
id. Two verbs can then wait for each other, but never in a circle.
"""

import functools
import random
import time
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, ParamSpec, TypeVar
from uuid import uuid4

from django.db import OperationalError, connection
from django.utils.translation import gettext_lazy as _
from djmoney.money import Money

from billing.models import Account, Transfer, UsedKey
from money import round_half_up

P = ParamSpec("P")
R = TypeVar("R")

# Serialization failure, deadlock, lock not available: the loser just tries again.
RETRYABLE = frozenset({"40001", "40P01", "55P03"})
TRIES = 4
LONGEST_PAUSE_SECONDS = 0.05


class KeyReused(Exception):
    """
    A key that already stands for one thing came back with another.
    """

    def __init__(self, verb: str, key: str) -> None:
        super().__init__(
            _(
                "This was already done with other details. Reload the page and try again."
            )
        )
        self.verb = verb
        self.key = key


class Busy(Exception):
    """
    The accounts stayed locked by others through every try.
    """

    def __init__(self) -> None:
        super().__init__(_("Too much is happening at once. Please try again."))


class NotWholeCents(ValueError):
    """
    Only whole cents of a positive amount can be moved: round first.
    """


@dataclass(frozen=True)
class Entry:
    """
    One transfer to be: `leg` tells the parts of one verb apart.
    """

    debit: Account
    credit: Account
    amount: Money
    kind: Transfer.Kind
    leg: str


@dataclass
class Claim:
    """
    What a key stands for; `is_new` is whether this call is the first with it.
    """

    row: UsedKey
    is_new: bool

    @property
    def result(self) -> Any:
        return self.row.result

    def settle(self, result: object) -> None:
        """
        Remember what the first call gave, for those that repeat it.
        """
        self.row.result = result
        self.row.save(update_fields=["result"])


def claim_key(*, verb: str, key: str, content: Mapping[str, object]) -> Claim:
    """
    Take `key` for `verb`, or find what it was taken for.

    Of two calls at once, the second waits until the first has committed. A call that
    fails gives its key back, because the row goes with its transaction.

    :raises KeyReused: if the key was taken for other content
    """
    written = {name: _written(value) for name, value in content.items()}
    row, is_new = UsedKey.objects.get_or_create(
        verb=verb, key=key, defaults={"content": written}
    )
    if row.content != written:
        raise KeyReused(verb, key)
    return Claim(row, is_new)


def _written(value: object) -> object:
    if isinstance(value, Money):
        return f"{value.amount.normalize():f} {value.currency}"
    if isinstance(value, Decimal):
        return f"{value.normalize():f}"
    if isinstance(value, datetime):
        return value.isoformat()
    return value


def open_account(kind: Account.Kind, currency: str, party: str = "") -> Account:
    """
    Return the one account of this kind, party and currency, made if it is missing.
    """
    return Account.objects.get_or_create(
        kind=kind,
        party=party,
        currency=currency,
        defaults={"balance": Money(0, currency)},
    )[0]


def lock_accounts(accounts: Iterable[Account | int]) -> dict[int, Account]:
    """
    Lock the accounts until the transaction ends, and return them as they are now.
    """
    ids = {account if isinstance(account, int) else account.pk for account in accounts}
    rows = Account.objects.filter(pk__in=ids).order_by("pk")
    return {row.pk: row for row in rows.select_for_update(no_key=True)}


def lock_account_ids(ids: Collection[int]) -> None:
    """
    Lock the accounts until the transaction ends, without reading them.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM ("
            "  SELECT id FROM billing_account WHERE id = ANY(%s::bigint[])"
            "  ORDER BY id FOR NO KEY UPDATE"
            ") AS locked",
            [id_array(ids)],
        )


def id_array(ids: Collection[int]) -> str:
    """
    Return the ids as PostgreSQL writes an array of them.

    Psycopg writes a list number by number, which takes six times as long.
    """
    return f"{{{','.join(map(str, ids))}}}"


def post(
    entries: Collection[Entry], *, key: str, at: datetime, reference: str = ""
) -> list[Transfer]:
    """
    Write the entries as transfers that share a group; zero amounts are left out.

    The accounts must be locked already, all at once: see `lock_accounts`. The
    database moves the balances.

    :raises NotWholeCents: for a negative amount, or for a fraction of a cent
    """
    group = uuid4()
    return Transfer.objects.bulk_create(
        Transfer(
            debit=entry.debit,
            credit=entry.credit,
            amount=entry.amount,
            kind=entry.kind,
            group=group,
            key=f"{key}/{entry.leg}",
            reference=reference,
            happened_at=at,
        )
        for entry in entries
        if whole_cents(entry.amount).amount
    )


def whole_cents(amount: Money) -> Money:
    """
    Return the amount, if it can be moved.

    :raises NotWholeCents: if it is negative or has a fraction of a cent
    """
    if amount.amount < 0 or round_half_up(amount.amount) != amount.amount:
        raise NotWholeCents(f"{amount.amount} {amount.currency} is not in whole cents.")
    return amount


def retry_conflicts(function: Callable[P, R]) -> Callable[P, R]:
    """
    Run the function again when the database made it lose against another.

    It belongs around a whole transaction: inside one, the error passes through.

    :raises Busy: if it lost every time
    """

    @functools.wraps(function)
    def retried(*args: P.args, **kwargs: P.kwargs) -> R:
        if connection.in_atomic_block:
            return function(*args, **kwargs)
        for _try in range(TRIES):
            try:
                return function(*args, **kwargs)
            except OperationalError as error:
                if not is_conflict(error):
                    raise
                lost = error
            pause(_try)
        raise Busy from lost

    return retried


def is_conflict(error: BaseException) -> bool:
    return getattr(error.__cause__, "sqlstate", None) in RETRYABLE


def pause(lost_tries: int) -> None:
    # Losers that wait equally long meet again.
    time.sleep(random.uniform(0, LONGEST_PAUSE_SECONDS * 2**lost_tries))  # noqa: S311
