"""
How the opening went, told by mail: one for each account that took part, once.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet
from django.urls import reverse
from django.utils import translation
from djmoney.money import Money

from billing.mails import queue_mail
from catalog.models import Offer
from marketplace import book, outbox
from marketplace.matching import cheapest, price_of
from marketplace.models import Launch, Match, OpeningLetter, SupplierMember, User
from workspaces.models import Workspace
from workspaces.queueing import QueuePlace, place_of

TOLD_WITHIN = timedelta(days=7)
"""After that nobody wants to hear of the opening any more."""

MAILS_AT_ONCE = 200


@dataclass(frozen=True)
class Result:
    """
    What became of a request: the match that it got, or its place among those that wait.

    `ask` is what the cheapest node that it could take costs, None if there is none.
    """

    workspace: Workspace
    match: Match | None
    place: QueuePlace | None = None
    ask: Money | None = None


class Rented(NamedTuple):
    """
    How many nodes of an offer were taken at the opening, and how many are still free.
    """

    offer: Offer
    nodes: int
    price: Money


def send_opening_mails(*, at: datetime) -> int:
    """
    Queue the mails that are still due and return how many that were.

    They are due once the whole book was matched for the first time.
    """
    launch = Launch.objects.current()
    if launch.matched_at is None or at >= launch.matched_at + TOLD_WITHIN:
        return 0
    sent = 0
    for user in _untold(launch)[:MAILS_AT_ONCE]:
        sent += _tell(user, launch, at=at)
    if sent:
        outbox.send_soon()
    return sent


def _untold(launch: Launch) -> "QuerySet[User]":
    told = OpeningLetter.objects.values("user")
    takes_part = Q(pk__in=_requests(launch).values("user")) | Q(
        pk__in=_members().values("user")
    )
    return User.objects.filter(takes_part, is_active=True).exclude(pk__in=told)


def _requests(launch: Launch) -> "QuerySet[Workspace]":
    """
    What was funded before the opening and was matched at it, or waits since.
    """
    is_matched = Q(matches__matched_at__range=(launch.opened_at, launch.matched_at))
    waits = Q(pk__in=Workspace.objects.queued().values("pk"))
    requests = Workspace.objects.filter(funded_at__lte=launch.opened_at)
    return requests.filter(is_matched | waits).distinct()


def _members() -> "QuerySet[SupplierMember]":
    return SupplierMember.objects.filter(
        user__isnull=False, supplier__offers__is_listed=True
    )


@transaction.atomic
def _tell(user: User, launch: Launch, *, at: datetime) -> bool:
    _letter, is_new = OpeningLetter.objects.get_or_create(
        user=user, defaults={"sent_at": at}
    )
    if not is_new:
        return False
    results = _results(user, launch, at=at)
    offers = _rented(user, launch, at=at)
    queue_mail(
        "market_opened",
        to=user.email,
        language=user.language,
        results=results,
        matched=sum(result.match is not None for result in results),
        waiting=sum(result.match is None for result in results),
        offers=offers,
        rented=sum(offer.nodes for offer in offers),
        workspaces_url=_url("workspaces:list", user),
        market_url=_url("marketplace:market", user),
        supplier_url=_url("marketplace:supplier", user),
    )
    return True


def _url(name: str, user: User) -> str:
    with translation.override(user.language):
        return f"{settings.SITE_URL}{reverse(name)}"


def _results(user: User, launch: Launch, *, at: datetime) -> list[Result]:
    requests = (
        Workspace.objects.owned_by(user)
        .filter(pk__in=_requests(launch).values("pk"))
        .with_names()
        .order_by("funded_at", "pk")
    )
    matches = {
        match.workspace_id: match
        for match in Match.objects.filter(
            workspace__user=user, matched_at__lte=launch.matched_at
        ).select_related("offer__region")
    }
    return [_result(request, matches.get(request.pk), at=at) for request in requests]


def _result(workspace: Workspace, match: Match | None, *, at: datetime) -> Result:
    if match is not None:
        return Result(workspace, match)
    place = place_of(workspace)
    own = Workspace.objects.filter(pk=workspace.pk)
    bids = book.bids_of(gpu_ids=[workspace.gpu_id], at=at, among=own)
    if not bids:
        return Result(workspace, None, place=place)
    [bid] = bids
    ask = cheapest(bid, book.asks_of(gpu_ids=[bid.gpu_id], at=at), at=at)
    price = Money(price_of(ask, bid), bid.currency) if ask else None
    return Result(workspace, None, place=place, ask=price)


def _rented(user: User, launch: Launch, *, at: datetime) -> list[Rented]:
    member = _members().filter(user=user).first()
    if member is None:
        return []
    priced: QuerySet[Any] = Offer.objects.with_price(at)
    offers = priced.filter(
        supplier=member.supplier_id, is_listed=True, price_id__isnull=False
    )
    return [
        Rented(
            offer,
            offer.matches.filter(
                matched_at__range=(launch.opened_at, launch.matched_at)
            ).count(),
            Money(offer.hourly_amount, offer.hourly_currency),
        )
        for offer in offers.select_related("gpu", "region").order_by("pk")
    ]
