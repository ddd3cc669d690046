"""
How a supplier stands: its nodes, what they earn, and what waits for it.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.conf import settings
from django.db.models import Count, Q, Sum
from django.db.models.functions import Coalesce
from djmoney.money import Money

from billing import services as billing
from billing.services import PartyStanding
from catalog.models import Offer, Supplier
from catalog.node_files import listed_offers
from marketplace.models import Company, CompanyEvent
from marketplace.suppliers.companies import party_of
from marketplace.suppliers.starts import Start, starts_of
from money import fee_of, round_half_up
from workspaces.models import Workspace
from workspaces.states import ON_A_NODE

EVENTS_SHOWN = 8
MONTH_HOURS = 730


@dataclass(frozen=True)
class Share:
    """
    What an ask brings for each hour of a node, as it is billed: in whole cents.

    `ask` is per GPU-hour. The fee is rounded half up with each hour's charge.
    """

    ask: Money
    fee_rate: Decimal
    gpus: int = 1

    @property
    def hour(self) -> Money:
        return Money(round_half_up(self.ask.amount * self.gpus), self.ask.currency)

    @property
    def fee(self) -> Money:
        fee, _rest = fee_of(self.hour.amount, self.fee_rate)
        return Money(fee, self.ask.currency)

    @property
    def net(self) -> Money:
        return self.hour - self.fee

    @property
    def month(self) -> Money:
        """
        Return what a node brings in a month of 730 hours in which it is always let.
        """
        return self.net * MONTH_HOURS


@dataclass(frozen=True)
class NodeRow:
    """
    An offer of the supplier, what it brings, and how many of its nodes are let.
    """

    offer: Any
    share: Share
    rented: int


@dataclass(frozen=True, kw_only=True)
class Overview:
    """
    What the front page shows; `reason` is what staff wrote to the company last.
    """

    nodes: int
    rented: int
    starts: list[Start]
    standings: list[PartyStanding]
    events: list[CompanyEvent]
    reason: str


def share_of(ask: Money, *, gpus: int = 1) -> Share:
    """
    Return what an ask brings after the fee of today.
    """
    return Share(ask=ask, fee_rate=settings.PLATFORM_FEE_RATE, gpus=gpus)


def fee_example() -> Share:
    """
    Return what a supplier gets of one dollar.
    """
    return share_of(Money(Decimal("1.00"), settings.CURRENCIES[0]))


def node_rows(supplier: Supplier, *, at: datetime) -> list[NodeRow]:
    """
    Return what a supplier lists or pauses.
    """
    let = _let_nodes(supplier)
    return [
        NodeRow(
            offer=offer,
            share=share_of(
                Money(offer.hourly_amount, offer.hourly_currency),
                gpus=offer.gpus_per_node,
            ),
            rented=let.get(offer.pk, 0),
        )
        for offer in listed_offers(supplier.pk, at=at)
    ]


def overview_of(supplier: Supplier, *, at: datetime) -> Overview:
    """
    Return what the front page of a desk shows.
    """
    let = Count("workspaces", filter=Q(workspaces__state__in=ON_A_NODE))
    offers = Offer.objects.filter(supplier=supplier).annotate(let=let)
    listed = Q(available_until=None) | Q(available_until__gt=at)
    sums = offers.aggregate(
        nodes=Coalesce(Sum("nodes", filter=listed & Q(is_listed=True)), 0),
        rented=Coalesce(Sum("let"), 0),
    )
    events = CompanyEvent.objects.filter(company=supplier.pk).exclude(
        kind__in=[CompanyEvent.Kind.PASSED, CompanyEvent.Kind.FAILED]
    )
    return Overview(
        nodes=sums["nodes"],
        rented=sums["rented"],
        starts=starts_of(supplier.pk),
        standings=billing.standings_of(party=party_of(supplier), at=at),
        events=list(events.order_by("-pk")[:EVENTS_SHOWN]),
        reason=_reason(supplier.company),
    )


def rank_of(ask: Money, *, gpu_id: int, region_id: int, gpus: int, at: datetime) -> int:
    """
    Return at which place an ask would stand among equal nodes in the same currency.
    """
    live: Any = Offer.objects.live(at)
    others = live.filter(
        gpu=gpu_id,
        region=region_id,
        gpus_per_node=gpus,
        hourly_amount__lte=ask.amount,
        hourly_currency=ask.currency.code,
    )
    return int(others.count()) + 1


def _reason(company: Company) -> str:
    if company.state in {Company.State.APPLIED, Company.State.VERIFIED}:
        return ""
    decided = company.events.filter(kind=company.state).order_by("-pk")
    return decided.values_list("detail", flat=True).first() or ""


def _let_nodes(supplier: Supplier) -> dict[int, int]:
    rented = Workspace.objects.filter(
        offer__supplier=supplier, state__in=ON_A_NODE
    ).order_by()
    counts: Any = rented.values_list("offer").annotate(Count("pk"))
    return dict(counts)
