"""
Whether every match is the one that the rule makes from the book as it was.
"""

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal
from itertools import zip_longest
from typing import NamedTuple

from django.db.models import Exists, Min, OuterRef

from marketplace import book_log
from marketplace.matching import match_book
from marketplace.models import Match, MatchRun, Replay
from workspaces.models import State, WorkspaceEvent

RUNS_AT_ONCE = 20


class Deal(NamedTuple):
    """
    What a match says, comparable with what the rule says.
    """

    workspace: str
    offer: int
    price: Decimal
    currency: str
    at: datetime

    def __str__(self) -> str:
        return (
            f"request {self.workspace} takes offer {self.offer}"
            f" at {self.price:f} {self.currency}, {self.at:%Y-%m-%d %H:%M:%S} UTC"
        )


def replay_matches(*, at: datetime) -> Replay:
    """
    Derive every match from the log again, and write down what differs.

    Each run's matches have to be the first ones that the rule makes from the book that
    was logged with it. Every match has to be in the log, and in the history of its
    workspace.
    """
    differences = [*_not_logged(), *_without_event()]
    runs = MatchRun.objects.order_by("pk").prefetch_related("matches")
    count = 0
    for run in runs.iterator(chunk_size=RUNS_AT_ONCE):
        count += 1
        differences += _differences(run)
    return Replay.objects.create(
        at=at, runs=count, matches=Match.objects.count(), differences=differences
    )


def _differences(run: MatchRun) -> Iterable[str]:
    matches = sorted(run.matches.all(), key=lambda match: match.pk)
    pairings = match_book(
        bids=book_log.read_bids(run.bids), asks=book_log.read_asks(run.asks), at=run.at
    )
    expected = [
        Deal(bid.key, ask.key, ask.price, ask.currency, run.at)
        for bid, ask in pairings[: len(matches)]
    ]
    if not matches:
        yield f"Run {run.pk} has no match in the log."
    for match, deal in zip_longest(matches, expected):
        found = _deal(match)
        if found != deal:
            derived = deal or "nobody takes anything"
            yield f"Match {match.pk} of run {run.pk}: {found}; derived: {derived}."


def _deal(match: Match) -> Deal:
    return Deal(
        str(match.workspace_id),
        match.offer_id,
        match.hourly_price.amount,
        str(match.hourly_price.currency),
        match.matched_at,
    )


def _not_logged() -> Iterable[str]:
    """
    Matches without a run, unless they are from before there was a log.
    """
    first = Match.objects.filter(run__isnull=False).aggregate(pk=Min("pk"))["pk"]
    for match in Match.objects.filter(run=None, pk__gt=first or 0).order_by("pk"):
        if first is not None:
            yield f"Match {match.pk} is in no run: {_deal(match)}."


def _without_event() -> Iterable[str]:
    events = WorkspaceEvent.objects.filter(
        workspace=OuterRef("workspace"),
        offer=OuterRef("offer"),
        at=OuterRef("matched_at"),
        state=State.MATCHED,
    )
    for match in Match.objects.exclude(Exists(events)).order_by("pk"):
        yield f"Match {match.pk} is not in the history of its workspace: {_deal(match)}."
