"""
Our ledger against the payment providers' own books.

Every night the providers' movements are fetched and kept as rows. What only the
provider decides, its fees and what it pays out to the bank, is booked from them; all
else must be in the ledger already. `billing.provider_checks` asks whether it is. What
the provider calls something else is booked once staff say what it was.
"""

import logging
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import islice

from django.db import transaction
from django.db.models import Min, Q, QuerySet, Sum
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing import gateways
from billing.gateway import Category, GatewayError, Movement
from billing.ledger import Entry, lock_accounts, open_account, post, retry_conflicts
from billing.models import (
    Account,
    Dispute,
    ProviderMovement,
    Reconciliation,
    TopUp,
    Transfer,
)
from billing.services.payouts import BANK

logger = logging.getLogger(__name__)
Kind = Transfer.Kind

# Asked for again each time; what is known already is left as it is.
OVERLAP = timedelta(days=2)
BATCH = 500


def reconcile(*, at: datetime) -> list[str]:
    """
    Fetch and book what moved at every provider up to `at`; return who did not answer.
    """
    used = TopUp.objects.exclude(provider="").order_by("provider")
    names = {gateways.current().name, *used.values_list("provider", flat=True)}
    silent = []
    for name in sorted(names):
        try:
            reconcile_provider(name, at=at)
        except GatewayError:
            logger.exception("A provider's movements could not be fetched")
            silent.append(name)
    return silent


def reconcile_provider(name: str, *, at: datetime) -> None:
    """
    Fetch and book what moved at one provider up to `at`; again changes nothing.

    :raises GatewayError: if it refused or did not answer; what came before is kept
    """
    movements = gateways.by_name(name).movements(since=_since(name, at), until=at)
    while batch := list(islice(movements, BATCH)):
        _store(name, batch)
    waiting = ProviderMovement.objects.filter(provider=name, booked_at=None)
    for movement_id in waiting.order_by("pk").values_list("pk", flat=True):
        _book(movement_id, at=at)
    Reconciliation.objects.update_or_create(provider=name, defaults={"until_at": at})


def _since(name: str, at: datetime) -> datetime:
    last = Reconciliation.objects.filter(provider=name).first()
    if last is not None:
        return last.until_at - OVERLAP
    own = TopUp.objects.filter(provider=name).aggregate(first=Min("created_at"))
    first: datetime = own["first"] or at
    return first - OVERLAP


def _store(provider: str, movements: list[Movement]) -> None:
    ProviderMovement.objects.bulk_create(
        [
            ProviderMovement(
                provider=provider,
                ref=movement.ref,
                kind=movement.kind,
                category=movement.category,
                source=movement.source,
                payment_id=movement.payment_id,
                amount=movement.amount,
                fee=movement.fee,
                happened_at=movement.happened_at,
            )
            for movement in movements
        ],
        ignore_conflicts=True,
    )


@retry_conflicts
@transaction.atomic
def _book(movement_id: int, *, at: datetime) -> None:
    """
    Book the fee and the payout that a movement is, once.
    """
    movement = ProviderMovement.objects.select_for_update().get(pk=movement_id)
    if movement.booked_at is not None or _is_unheard_of(movement):
        return
    currency = str(movement.amount.currency)
    clearing = open_account(Account.Kind.CLEARING, currency, movement.provider)
    losses = open_account(Account.Kind.WRITE_OFFS, currency)
    bank = open_account(Account.Kind.CLEARING, currency, BANK)
    lock_accounts([clearing, losses, bank])
    cost = _cost(movement)
    is_payout = movement.category == Category.PAYOUT
    paid_out = movement.amount * (-1 if is_payout else 0)
    post(
        [
            _entry(losses, clearing, cost, Kind.PROVIDER_FEE, "fee"),
            _entry(bank, clearing, paid_out, Kind.PROVIDER_PAYOUT, "payout"),
        ],
        key=f"movement:{movement.provider}:{movement.ref}",
        at=movement.happened_at,
        reference=f"movement:{movement.ref}",
    )
    movement.booked_at = at
    movement.save(update_fields=["booked_at"])


class AlreadyExplained(Exception):
    """
    Somebody has said before what this movement was.
    """

    def __init__(self) -> None:
        super().__init__(_("Somebody has explained this movement already."))


@retry_conflicts
@transaction.atomic
def explain_movement(
    *,
    movement_id: int,
    cause: ProviderMovement.Cause,
    reason: str,
    actor_id: int,
    at: datetime,
) -> None:
    """
    Book what the provider calls something else to the account that staff say.

    :raises AlreadyExplained: if that was done before, or never has to be
    """
    others = ProviderMovement.objects.select_for_update()
    movement = others.filter(
        pk=movement_id, category=Category.OTHER, explained_at=None
    ).first()
    if movement is None:
        raise AlreadyExplained
    currency = str(movement.amount.currency)
    clearing = open_account(Account.Kind.CLEARING, currency, movement.provider)
    other = (
        open_account(Account.Kind.CLEARING, currency, BANK)
        if cause == ProviderMovement.Cause.BANK
        else open_account(Account.Kind.WRITE_OFFS, currency)
    )
    lock_accounts([clearing, other])
    post(
        [_entry(clearing, other, movement.amount, Kind.CORRECTION, "amount")],
        key=f"explained:{movement.provider}:{movement.ref}",
        at=movement.happened_at,
        reference=f"movement:{movement.ref}",
    )
    movement.cause, movement.explanation = cause, reason
    movement.explained_by_id, movement.explained_at = actor_id, at
    movement.save(
        update_fields=["cause", "explanation", "explained_by", "explained_at"]
    )


def _is_unheard_of(movement: ProviderMovement) -> bool:
    """
    Whether it is of a dispute that is not here yet, and will bring its fee with it.
    """
    is_dispute = movement.category == Category.DISPUTE
    known = Dispute.objects.filter(provider_ref=movement.source)
    return is_dispute and not known.exists()


def _cost(movement: ProviderMovement) -> Money:
    """
    Return what the provider keeps with this movement and is not booked yet.
    """
    if movement.category == Category.FEE:
        return movement.fee - movement.amount
    if movement.category != Category.DISPUTE:
        return movement.fee
    # Whoever reported the dispute has booked the fee that was known then.
    parts = ProviderMovement.objects.filter(
        provider=movement.provider, source=movement.source
    )
    theirs = parts.aggregate(sum=Sum("fee"))["sum"]
    booked = _booked_fees(movement.source, parts)
    return Money(theirs - booked, movement.fee.currency)


def _booked_fees(dispute: str, parts: QuerySet[ProviderMovement]) -> Decimal:
    references = [f"movement:{ref}" for ref in parts.values_list("ref", flat=True)]
    booked = Transfer.objects.filter(
        Q(key=f"dispute:{dispute}/fee")
        | Q(kind=Kind.PROVIDER_FEE, reference__in=references)
    )
    is_cost = Q(debit__kind=Account.Kind.WRITE_OFFS)
    costs = booked.aggregate(
        taken=Sum("amount", filter=is_cost, default=0),
        given=Sum("amount", filter=~is_cost, default=0),
    )
    return Decimal(costs["taken"] - costs["given"])


def _entry(
    debit: Account, credit: Account, amount: Money, kind: Kind, leg: str
) -> Entry:
    """
    Return the transfer of an amount, the other way round if it is below zero.
    """
    if amount.amount < 0:
        return Entry(credit, debit, -amount, kind, leg)
    return Entry(debit, credit, amount, kind, leg)
