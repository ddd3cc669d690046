"""
How often suppliers broke off what ran on a GPU, where it is asked for.
"""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Q

from workspaces.models import State, WorkspaceEvent
from workspaces.models.events import INTERRUPTIONS

DAYS = 90


@dataclass(frozen=True)
class Reliability:
    """
    Starts and interruptions of the last `days` days.
    """

    starts: int
    interruptions: int
    days: int = DAYS


def reliability(*, gpu_id: int, regions: Collection[str], at: datetime) -> Reliability:
    """
    Return how many starts of this GPU in these regions there were, and interruptions.
    """
    counted = WorkspaceEvent.objects.filter(
        at__gt=at - timedelta(days=DAYS),
        offer__gpu_id=gpu_id,
        offer__region__slug__in=regions,
    ).aggregate(
        starts=Count("pk", filter=Q(state=State.RUNNING, code="")),
        interruptions=Count("pk", filter=Q(code__in=INTERRUPTIONS)),
    )
    return Reliability(**counted)
