"""
What a request would cost, frozen long enough to think about it.
"""

from contextlib import suppress
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing import services as billing
from catalog import costs
from catalog.models import BaseModel, GpuModel, Image, Offer, StoragePlan
from workspaces.models import Quote, Workspace
from workspaces.models.quote import VALID_FOR
from workspaces.models.specification import LossKernel, Optimizer
from workspaces.services.fit import fit_of

if TYPE_CHECKING:
    from marketplace.models import User


class CannotQuote(Exception):
    """
    No price can be given for this request; `field` is the one to change.
    """

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, kw_only=True)
class WantedWorkspace:
    """
    A request as it was written; no `wanted_limit` means the best ask.

    `wanted_limit` is what one GPU may cost an hour, in `currency`, which is that of
    the wallet that pays.
    """

    base_model: BaseModel
    revision: str
    method: str
    sequence_length: int
    micro_batch: int
    lora_rank: int | None
    is_checkpointing: bool
    image: Image
    gpu: GpuModel
    gpus: int
    regions: list[str]
    hours: int
    currency: str
    wanted_limit: Decimal | None
    storage_plan: StoragePlan
    storage_gb: int
    kept_days: int
    checkpoint_minutes: int
    checkpoints_kept: int
    kept_at_end: str
    dataset_note: str = ""
    start_deadline: datetime | None = None
    is_start_retried: bool = False
    loss_kernel: str = LossKernel.PLAIN
    optimizer: str = Optimizer.ADAMW


@billing.retry_conflicts
@transaction.atomic
def quote_workspace(
    *,
    user: "User",
    wanted: WantedWorkspace,
    at: datetime,
    replaces: Quote | None = None,
) -> Quote:
    """
    Price a request at the best ask, or at its own limit, and freeze that.

    `replaces` is the quote that was changed, so that it can be said what is new.

    :raises CannotQuote: if nothing is offered to take a limit from, or a price is in
        a currency for which there is no exchange rate
    """
    return make_quote(user=user, wanted=wanted, replaces=replaces, at=at)


def make_quote(
    *,
    user: "User",
    wanted: WantedWorkspace,
    at: datetime,
    resumes: Workspace | None = None,
    replaces: Quote | None = None,
) -> Quote:
    """
    Price what is wanted; `resumes` is the stopped workspace that would go on with it.

    :raises CannotQuote: as `quote_workspace`
    """
    rates, as_of = _rates_into(wanted.currency, at=at)
    quote = Quote(
        user=user,
        **{field.name: getattr(wanted, field.name) for field in fields(wanted)},
        exchange_rates=rates,
        exchange_as_of=as_of,
        resumes=resumes,
        replaces=replaces,
        created_at=at,
        expires_at=at + VALID_FOR,
    )
    quote.verdict, quote.needed_gb = fit_of(quote)
    _set_storage_rate(quote)
    _set_limit(quote, at=at)
    _set_costs(quote)
    quote.save(force_insert=True)
    return quote


@billing.retry_conflicts
@transaction.atomic
def quote_again(*, user: "User", quote_id: UUID, at: datetime) -> Quote:
    """
    Price the request of an earlier quote anew, with everything that was entered.

    The new quote remembers the earlier one, so that it can be said what changed.

    :raises Quote.DoesNotExist: if the user has no such quote
    :raises CannotQuote: as `quote_workspace`
    """
    earlier = Quote.objects.select_related("resumes").get(pk=quote_id, user=user)
    return make_quote(
        user=user,
        wanted=wanted_of(earlier),
        resumes=earlier.resumes,
        replaces=earlier,
        at=at,
    )


def wanted_of(quote: Quote) -> WantedWorkspace:
    """
    Return what a quote was asked for.
    """
    names = [field.name for field in fields(WantedWorkspace)]
    return WantedWorkspace(**{name: getattr(quote, name) for name in names})


def best_offer(quote: Quote, *, at: datetime) -> tuple[Offer, Money] | None:
    """
    Return the cheapest free node that the request could take now, and its price.

    An own offer is not named: the order book would never give it.
    The price is that of one GPU for an hour, at the exchange rates of the quote.
    """
    lasting = Q(available_until__isnull=True) | Q(
        available_until__gte=at + timedelta(hours=quote.hours)
    )
    offers: QuerySet[Any] = (
        Offer.objects.live(at)
        .filter(
            lasting,
            gpu=quote.gpu,
            gpus_per_node=quote.gpus,
            region__slug__in=quote.regions,
        )
        .exclude(pk__in=quote.user.own_offers())
    )
    asks = [
        (ask.amount, offer.listed_at, offer.pk, offer)
        for offer in offers
        if (ask := quote.in_wallet_currency(_ask_of(offer))) is not None
    ]
    if not asks:
        return None
    amount, _listed_at, _pk, offer = min(asks)
    return offer, Money(amount, quote.currency)


def _ask_of(offer: Any) -> Money:
    return Money(offer.hourly_amount, offer.hourly_currency)


def _rates_into(
    currency: str, *, at: datetime
) -> tuple[dict[str, str], datetime | None]:
    """
    Return what one unit of each other currency is in this one, as far as is known.
    """
    rates: dict[str, str] = {}
    as_of = None
    for other in settings.CURRENCIES:
        if other == currency:
            continue
        with suppress(billing.NoExchangeRate):
            known = billing.convert(amount=Money(1, other), currency=currency, at=at)
            rates[other], as_of = str(known.rate), known.as_of
    return rates, as_of


def exchanged(quote: Quote) -> dict[str, Decimal]:
    """
    Return the frozen exchange rates that the figures of a quote were made with.
    """
    used = {str(quote.storage_plan.monthly_price.currency)}
    if quote.offer is not None:
        used.add(str(quote.offer.hourly_price(quote.created_at).currency))
    rates = quote.rates()
    return {code: rates[code] for code in sorted(used - {quote.currency})}


def _set_storage_rate(quote: Quote) -> None:
    if quote.resumes is not None:
        # What is stored already keeps its price.
        quote.storage_rate = quote.resumes.quote.storage_rate
        return
    storage_rate = quote.in_wallet_currency(quote.storage_plan.monthly_price)
    if storage_rate is None:
        raise CannotQuote(
            _(
                "This storage plan is priced in %(currency)s, for which there is no"
                " exchange rate now: choose that wallet."
            )
            % {"currency": quote.storage_plan.monthly_price.currency},
            field="currency",
        )
    quote.storage_rate = storage_rate


def _set_limit(quote: Quote, *, at: datetime) -> None:
    best = best_offer(quote, at=at)
    if best is not None:
        quote.offer, quote.ask_amount = best[0], best[1].amount
    if quote.wanted_limit is not None:
        quote.limit_price = Money(quote.wanted_limit, quote.currency)
    elif best is not None:
        quote.limit_price = best[1]
    else:
        raise CannotQuote(
            _(
                "Nobody offers such a node in these regions now, so there is no best"
                " ask. Write the most you would pay per GPU-hour, or change the GPU,"
                " the number of GPUs, the regions or the hours."
            ),
            field="wanted_limit",
        )


def _set_costs(quote: Quote) -> None:
    cost = costs.cost_window(
        hours=quote.hours,
        gpus=quote.gpus,
        rate=quote.limit_price,
        storage_gb=quote.storage_gb,
        storage_rate=quote.storage_rate,
        kept_days=quote.kept_days,
    )
    quote.compute_cost = cost.compute
    quote.storage_cost = cost.storage
    quote.kept_cost = cost.kept_storage
    quote.hold_amount = cost.total
