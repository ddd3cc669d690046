"""
Who trades, when the market opens, and who gets which node.
"""

import logging
from collections import Counter
from datetime import datetime
from typing import NamedTuple

from django.conf import settings
from django.db import IntegrityError, connection, transaction
from django.db.models import Count, Sum
from django.utils.translation import gettext as _
from djmoney.money import Money

from billing import services as billing
from catalog import services as catalog
from marketplace import book
from marketplace.matching import Pairing, match_book
from marketplace.models import Launch, LaunchEvent, Match, User
from workspaces import services as workspaces
from workspaces.models import Workspace
from workspaces.states import WAITING

logger = logging.getLogger(__name__)

MATCHING = 7_302
"""The class of the advisory locks under which a GPU's book is matched."""

MATCHES_PER_TRANSACTION = 20


class NotOpen(Exception):
    """
    The market has not been opened, so it cannot be paused.
    """


class ReasonMissing(Exception):
    """
    A pause needs a reason, because everybody who waits is shown it.
    """


class DryRun(NamedTuple):
    """
    What the opening would do now, per GPU: who would be matched and for how much.
    """

    gpu_label: str
    waiting: int
    matched: int
    held: list[Money]


@transaction.atomic
def sign_up(
    *,
    email: str,
    password: str | None,
    at: datetime,
    language: str = settings.LANGUAGE_CODE,
    time_zone: str = settings.TIME_ZONE,
) -> User:
    """
    Create a person with an empty wallet in every currency, and return them.

    :raises django.db.IntegrityError: if the e-mail address has an account already
    """
    user = User.objects.create_user(
        email, password, language=language, time_zone=time_zone, date_joined=at
    )
    for currency in settings.CURRENCIES:
        billing.open_wallet(user_id=user.pk, currency=currency)
    return user


@transaction.atomic
def plan_opening(*, actor: User, opens_at: datetime | None, at: datetime) -> Launch:
    """
    Say when the market will open, or take the date back. It opens nothing by itself.
    """
    launch = Launch.objects.locked()
    if launch.opens_at != opens_at:
        launch.opens_at = opens_at
        launch.save(update_fields=["opens_at"])
        _record(LaunchEvent.Kind.PLANNED, actor=actor, at=at, opens_at=opens_at)
    return launch


@transaction.atomic
def open_doors(*, actor: User | None, at: datetime) -> Launch:
    """
    Open the market, or go on after a pause; what is open stays as it is.
    """
    launch = Launch.objects.locked()
    if launch.is_open:
        return launch
    kind = LaunchEvent.Kind.RESUMED if launch.opened_at else LaunchEvent.Kind.OPENED
    launch.opened_at = launch.opened_at or at
    launch.paused_at, launch.pause_reason = None, ""
    launch.save(update_fields=["opened_at", "paused_at", "pause_reason"])
    _record(kind, actor=actor, at=at)
    return launch


def open_market(*, actor: User | None, at: datetime) -> list[Match]:
    """
    Open the market, queue every funded request and match the whole book.

    Called again it opens nothing twice and only matches what still waits.
    """
    open_doors(actor=actor, at=at)
    return match_market(at=at)


@transaction.atomic
def pause_market(*, actor: User, reason: str, at: datetime) -> Launch:
    """
    Match nothing until the market is opened again; what runs goes on running.

    :raises NotOpen: if it has not been opened yet
    :raises ReasonMissing: if no reason is given
    """
    launch = Launch.objects.locked()
    if launch.opened_at is None:
        raise NotOpen(_("The market is not open, so there is nothing to pause."))
    if not reason.strip():
        raise ReasonMissing(_("Write why: everybody who waits is shown it."))
    if launch.paused_at is None:
        launch.paused_at, launch.pause_reason = at, reason.strip()
        launch.save(update_fields=["paused_at", "pause_reason"])
        _record(LaunchEvent.Kind.PAUSED, actor=actor, at=at, reason=reason.strip())
    return launch


def match_market(*, at: datetime, gpu_id: int | None = None) -> list[Match]:
    """
    Match the book of one GPU, or of all, and return the new matches in order.

    Requests that were funded after the opening are queued first. Nothing happens
    while the market is closed.
    """
    if not Launch.objects.current().is_open:
        return []
    workspaces.queue_funded(at=at)
    queued = Workspace.objects.queued()
    if gpu_id is not None:
        queued = queued.filter(gpu_id=gpu_id)
    gpu_ids = sorted(set(queued.values_list("gpu_id", flat=True)))
    matches: list[Match] = []
    for gpu_id in gpu_ids:
        try:
            _match_gpu(gpu_id, at, matches)
        except billing.Busy:
            logger.warning("The book of a GPU is busy; the next run matches it")
    return matches


def preview_opening(*, at: datetime) -> list[DryRun]:
    """
    Return what the opening would match at `at`, without doing anything.
    """
    waiting = Workspace.objects.filter(state__in=WAITING)
    per_gpu = waiting.values_list("gpu_id", "gpu__label").annotate(Count("pk"))
    runs = {
        gpu_id: DryRun(gpu_label=label, waiting=number, matched=0, held=[])
        for gpu_id, label, number in per_gpu
    }
    per_wallet = waiting.values_list("gpu_id", "currency").annotate(
        Sum("quote__hold_amount")
    )
    for gpu_id, currency, held in per_wallet.order_by("-currency"):
        runs[gpu_id].held.append(Money(held, currency))
    pairings = match_book(
        bids=book.bids_of(gpu_ids=runs, at=at, states=WAITING),
        asks=book.asks_of(gpu_ids=runs, at=at),
        at=at,
    )
    for gpu_id, matched in Counter(bid.gpu_id for bid, _ask in pairings).items():
        runs[gpu_id] = runs[gpu_id]._replace(matched=matched)
    return sorted(runs.values(), key=lambda run: run.gpu_label)


def _record(
    kind: LaunchEvent.Kind,
    *,
    actor: User | None,
    at: datetime,
    opens_at: datetime | None = None,
    reason: str = "",
) -> None:
    LaunchEvent.objects.create(
        kind=kind, actor=actor, at=at, opens_at=opens_at, reason=reason
    )


def _match_gpu(gpu_id: int, at: datetime, matches: list[Match]) -> None:
    """
    Match one GPU's book to its end, a few matches in each transaction.

    The rule goes on where it was interrupted, so cutting it changes no result.
    """
    left_out: set[str] = set()
    while True:
        tried, done = _match_some(gpu_id, at, left_out)
        matches += done
        if tried < MATCHES_PER_TRANSACTION:
            return


@billing.retry_conflicts
@transaction.atomic
def _match_some(
    gpu_id: int, at: datetime, left_out: set[str]
) -> tuple[int, list[Match]]:
    with connection.cursor() as cursor:
        # Two processes that read the same book would both give away its first node.
        cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [MATCHING, gpu_id])
    bids = book.bids_of(gpu_ids=[gpu_id], at=at)
    pairings = match_book(
        bids=[bid for bid in bids if bid.key not in left_out],
        asks=book.asks_of(gpu_ids=[gpu_id], at=at),
        at=at,
    )[:MATCHES_PER_TRANSACTION]
    done = []
    for pairing in pairings:
        if match := _apply(pairing, at):
            done.append(match)
        else:
            left_out.add(pairing.bid.key)
    return len(pairings), done


def _apply(pairing: Pairing, at: datetime) -> Match | None:
    """
    Make one match, wholly or not at all; None if the book changed under it.
    """
    try:
        with transaction.atomic():
            return _make_match(pairing, at)
    except (catalog.NoFreeNode, Workspace.DoesNotExist):
        # The node was taken or the request cancelled since the book was read.
        return None
    except IntegrityError:
        logger.exception("Could not match a request; the others go on")
        return None


def _make_match(pairing: Pairing, at: datetime) -> Match:
    # A workspace is locked before its node and its money, as everywhere.
    workspace = Workspace.objects.queued().select_for_update().get(pk=pairing.bid.key)
    price = Money(pairing.ask.price, pairing.ask.currency)
    catalog.take_node(offer_id=pairing.ask.key, at=at)
    workspaces.match_workspace(
        workspace_id=workspace.pk,
        offer_id=pairing.ask.key,
        hourly_price=price,
        at=at,
    )
    return Match.objects.create(
        workspace=workspace,
        offer_id=pairing.ask.key,
        hourly_price=price,
        matched_at=at,
    )
