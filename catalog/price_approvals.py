"""
What waits for a second person's approval, and what was decided lately.
"""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from django.core.paginator import Page, Paginator
from djmoney.money import Money

from catalog.models import Offer, PriceProposal
from catalog.price_bounds import recent_medians

SHOWN = 50
DECIDED_SHOWN = 20


@dataclass(frozen=True, kw_only=True)
class Waiting:
    """
    A price that waits, with what to hold it against: None where there is nothing.
    """

    proposal: PriceProposal
    offer: Any
    current: Money | None
    median: Money | None

    @property
    def away(self) -> Decimal | None:
        """
        How much dearer it is than the GPU's median, as a share.
        """
        if self.median is None:
            return None
        return self.proposal.hourly_price.amount / self.median.amount - 1


def waiting_prices(*, page: Any, at: datetime) -> Page:
    """
    Return a page of what waits, the oldest first.
    """
    proposals: Any = PriceProposal.objects.waiting().select_related("proposed_by")
    shown = Paginator(proposals.order_by("pk"), SHOWN).get_page(page)
    rows = list(shown.object_list)
    offers: dict[int, Any] = {
        offer.pk: offer
        for offer in Offer.objects.filter(pk__in={row.offer_id for row in rows})
        .with_price(at)
        .select_related("gpu", "supplier", "region")
    }
    gpu_ids = {offer.gpu_id for offer in offers.values()}
    medians = recent_medians(gpu_ids=gpu_ids, at=at)
    shown.object_list = [_waiting(row, offers[row.offer_id], medians) for row in rows]
    return shown


def _waiting(proposal: PriceProposal, offer: Any, medians: Any) -> Waiting:
    currency = proposal.hourly_price.currency.code
    middle = medians.of(gpu_id=offer.gpu_id, currency=currency)
    has_price = offer.price_id is not None
    return Waiting(
        proposal=proposal,
        offer=offer,
        current=Money(offer.hourly_amount, offer.hourly_currency)
        if has_price
        else None,
        median=None if middle is None else Money(middle, currency),
    )


def decided_prices() -> list[PriceProposal]:
    """
    Return the latest decisions, the newest first.
    """
    decided = PriceProposal.objects.filter(decided_at__isnull=False)
    return list(
        decided.select_related(
            "offer__gpu",
            "offer__supplier",
            "offer__region",
            "proposed_by",
            "decided_by",
        ).order_by("-decided_at", "-pk")[:DECIDED_SHOWN]
    )
