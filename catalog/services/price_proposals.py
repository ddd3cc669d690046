"""
Prices that wait for a second person: proposed by one, approved or refused by another.
"""

import logging
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _
from djmoney.money import Money

from catalog.models import Offer, OfferPrice, PriceProposal
from catalog.price_bounds import RATE_PLACES, PriceRefused
from catalog.price_plans import AlreadyWaiting, PlannedPrice
from catalog.services.prices import add_version, lock_offers
from money import round_half_up

if TYPE_CHECKING:
    from marketplace.models import User

BATCH = 1000

logger = logging.getLogger(__name__)


class CannotDecide(Exception):
    """
    A proposed price cannot be approved or refused like this.
    """


@transaction.atomic
def propose_price(
    *,
    offer_id: int,
    hourly_price: Money,
    valid_from: datetime,
    actor: "User",
    at: datetime,
    reason: str,
) -> PriceProposal:
    """
    Keep a price that was checked before until a second person approves it.

    :raises AlreadyWaiting: if a price of this offer waits already
    """
    offer = Offer.objects.select_for_update().get(pk=offer_id)
    if offer.proposals.waiting().exists():
        raise AlreadyWaiting
    proposal = _proposal(
        offer.pk, hourly_price, valid_from=valid_from, actor=actor, at=at, reason=reason
    )
    proposal.save()
    return proposal


def keep_waiting(
    rows: Sequence[PlannedPrice], *, actor: "User | None", at: datetime
) -> None:
    """
    Keep what a plan says has to wait; its offers are locked.
    """
    proposals = []
    for row in rows:
        # A line without these is refused.
        assert row.line.price is not None
        assert row.valid_from is not None
        proposals.append(
            _proposal(
                row.offer.pk,
                row.line.price,
                valid_from=row.valid_from,
                actor=actor,
                at=at,
                reason=row.line.reason,
            )
        )
    PriceProposal.objects.bulk_create(proposals, batch_size=BATCH)


@transaction.atomic
def approve_prices(
    *, proposal_ids: Collection[int], actor: "User", at: datetime, reason: str
) -> list[OfferPrice]:
    """
    Make versions of proposed prices, all or none, and return them.

    A start that has passed becomes `at`: what was charged before stays true.

    :raises CannotDecide: if one is the actor's own, was decided on before, or was made
        for a price that has changed since; or without a reason
    """
    proposals = _taken(proposal_ids, reason=reason)
    for proposal in proposals:
        if proposal.proposed_by_id == actor.pk:
            raise CannotDecide(
                _("You proposed this price yourself. Somebody else has to approve it.")
            )
        _check_not_overtaken(proposal)
    versions = [
        _decide(
            proposal, _version_of(proposal, at=at), actor=actor, at=at, reason=reason
        )
        for proposal in proposals
    ]
    return [version for version in versions if version]


@transaction.atomic
def refuse_prices(
    *, proposal_ids: Collection[int], actor: "User", at: datetime, reason: str
) -> int:
    """
    Note that proposed prices are not to be, and return how many; authors may do so.

    :raises CannotDecide: if one was decided on before, or without a reason
    """
    proposals = _taken(proposal_ids, reason=reason)
    for proposal in proposals:
        _decide(proposal, None, actor=actor, at=at, reason=reason)
    return len(proposals)


def _proposal(
    offer_id: int,
    price: Money,
    *,
    valid_from: datetime,
    actor: "User | None",
    at: datetime,
    reason: str,
) -> PriceProposal:
    return PriceProposal(
        offer_id=offer_id,
        hourly_price=Money(round_half_up(price.amount, RATE_PLACES), price.currency),
        valid_from=valid_from,
        reason=reason.strip(),
        proposed_at=at,
        proposed_by=actor,
    )


def _taken(proposal_ids: Collection[int], *, reason: str) -> list[PriceProposal]:
    """
    Lock the offers, as all who write prices do, and then what waits for them.
    """
    if not proposal_ids:
        raise CannotDecide(_("Choose at least one price."))
    if not reason.strip():
        raise CannotDecide(_("Say why: the reason stays with the price."))
    chosen = PriceProposal.objects.filter(pk__in=proposal_ids)
    lock_offers(chosen.values_list("offer_id", flat=True))
    waiting = list(chosen.waiting().select_related("offer").order_by("pk"))
    if len(waiting) != len(set(proposal_ids)):
        raise CannotDecide(_("Somebody decided on one of these prices meanwhile."))
    return waiting


def _check_not_overtaken(proposal: PriceProposal) -> None:
    newer = proposal.offer.prices.filter(created_at__gt=proposal.proposed_at)
    # Prices that were proposed together follow each other.
    if newer.exclude(proposal__proposed_at=proposal.proposed_at).exists():
        raise CannotDecide(
            _(
                "The price of this offer has changed since. Refuse this one, and let"
                " it be proposed anew if it is still meant."
            )
        )


def _version_of(proposal: PriceProposal, *, at: datetime) -> OfferPrice:
    try:
        return add_version(
            proposal.offer,
            proposal.hourly_price,
            valid_from=proposal.start(at),
            actor=proposal.proposed_by,
            at=at,
            reason=proposal.reason,
        )
    except PriceRefused as refusal:
        raise CannotDecide(str(refusal)) from refusal


def _decide(
    proposal: PriceProposal,
    version: OfferPrice | None,
    *,
    actor: "User",
    at: datetime,
    reason: str,
) -> OfferPrice | None:
    proposal.version = version
    proposal.decided_by, proposal.decided_at = actor, at
    proposal.decision_reason = reason.strip()
    proposal.save(
        update_fields=["version", "decided_by", "decided_at", "decision_reason"]
    )
    logger.info(
        "Proposed price %d %s by user %d",
        proposal.pk,
        "approved" if version else "refused",
        actor.pk,
    )
    return version
