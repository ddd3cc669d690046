"""
Who gets which node: the rule of the order book, applied to the database and logged.
"""

import logging
from datetime import datetime

from django.db import IntegrityError, connection, transaction
from djmoney.money import Money

from billing import services as billing
from catalog import services as catalog
from marketplace import book, book_log
from marketplace.matching import Ask, Bid, Pairing, decided_from, match_book
from marketplace.models import Launch, Match, MatchRun
from workspaces import services as workspaces
from workspaces.models import Workspace

logger = logging.getLogger(__name__)

MATCHING = 7_302
"""The class of the advisory locks under which a GPU's book is matched."""

MATCHES_PER_RUN = 100
"""What one transaction makes: others wait for its locks."""


def match_market(*, at: datetime, gpu_id: int | None = None) -> list[Match]:
    """
    Match the book of one GPU, or of all, and return the new matches in order.

    Requests that were funded after the opening are queued first. Nothing happens
    while the market is closed.
    """
    launch = Launch.objects.current()
    if not launch.is_open:
        return []
    workspaces.queue_funded(at=at)
    matches: list[Match] = []
    is_whole = gpu_id is None
    for number in _gpus_asked_for(gpu_id):
        try:
            _match_gpu(number, at, matches)
        except billing.Busy:
            logger.warning("The book of a GPU is busy; the next run matches it")
            is_whole = False
    if is_whole and launch.matched_at is None:
        unpaused = Launch.objects.filter(matched_at=None, paused_at=None)
        unpaused.update(matched_at=at)
    return matches


def _gpus_asked_for(gpu_id: int | None) -> list[int]:
    queued = Workspace.objects.queued().order_by("gpu_id")
    if gpu_id is not None:
        queued = queued.filter(gpu_id=gpu_id)
    return list(queued.values_list("gpu_id", flat=True).distinct())


def _match_gpu(gpu_id: int, at: datetime, matches: list[Match]) -> None:
    """
    Match one GPU's book to its end, run after run.

    The rule goes on where it was interrupted, so cutting it changes no result.
    """
    left_out: set[str] = set()
    while _run(gpu_id, at, left_out=left_out, matches=matches):
        pass


@billing.retry_conflicts
def _run(
    gpu_id: int, at: datetime, *, left_out: set[str], matches: list[Match]
) -> bool:
    """
    Make some matches of a GPU's book, and return whether there may be more to make.

    A match that cannot be made ends the run, because all that follow would be others
    without it; the request that it was for is `left_out` from then on.
    """
    with transaction.atomic():
        with connection.cursor() as cursor:
            # Two processes that read the same book would both give its first node away.
            cursor.execute("SELECT pg_advisory_xact_lock(%s, %s)", [MATCHING, gpu_id])
        # A whole book takes minutes, in which the market may be paused.
        if not Launch.objects.current().is_open:
            return False
        bids = book.bids_of(gpu_ids=[gpu_id], at=at)
        bids = [bid for bid in bids if bid.key not in left_out]
        asks = book.asks_of(gpu_ids=[gpu_id], at=at)
        pairings = match_book(bids=bids, asks=asks, at=at)[:MATCHES_PER_RUN]
        made, failed = _apply(pairings, at)
        if made:
            run = _log(bids, asks, pairings[: len(made)], gpu_id=gpu_id, at=at)
            for match in made:
                match.run = run
            made = Match.objects.bulk_create(made)
    matches += made
    if failed:
        left_out.add(failed.bid.key)
    return failed is not None or len(pairings) == MATCHES_PER_RUN


def _log(
    bids: list[Bid],
    asks: list[Ask],
    pairings: list[Pairing],
    *,
    gpu_id: int,
    at: datetime,
) -> MatchRun:
    heard, looked_at = decided_from(bids=bids, asks=asks, pairings=pairings)
    return MatchRun.objects.create(
        gpu_id=gpu_id,
        at=at,
        bids=book_log.write_bids(heard),
        asks=book_log.write_asks(looked_at),
    )


def _apply(pairings: list[Pairing], at: datetime) -> tuple[list[Match], Pairing | None]:
    """
    Make the matches in order; return them, and the first that cannot be made.
    """
    made = []
    for pairing in pairings:
        try:
            with transaction.atomic():
                made.append(_make_match(pairing, at))
        except (catalog.NoFreeNode, Workspace.DoesNotExist):
            # The node was taken or the request cancelled since the book was read.
            return made, pairing
        except IntegrityError:
            logger.exception("Could not match a request; the others go on")
            return made, pairing
    return made, None


def _make_match(pairing: Pairing, at: datetime) -> Match:
    """
    Return the match, not yet written, with everything that it changes done.
    """
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
    return Match(
        workspace=workspace,
        offer_id=pairing.ask.key,
        hourly_price=price,
        matched_at=at,
    )
