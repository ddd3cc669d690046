"""
Limits that hold whatever a person, a script or a thief of an account asks for.
"""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.contrib.auth import get_user_model
from django.utils.translation import gettext as _

import formats
from billing import services as billing
from workspaces.models import State, Workspace, WorkspaceEvent
from workspaces.models.specification import MAX_HOURS
from workspaces.services.extending import switch_auto_extend
from workspaces.states import OVER

if TYPE_CHECKING:
    from marketplace.models import User

A_DAY = timedelta(hours=24)


class TooMuch(Exception):
    """
    The account has reached a limit; the message says which, and what to do.
    """


def check_limits(user: "User", *, at: datetime) -> None:
    """
    Refuse one more workspace to an account that has as many as it may.

    The account stays locked until the transaction ends: two requests at once count.

    :raises TooMuch: if it has too many open, or has funded too many in 24 hours
    """
    get_user_model().objects.select_for_update(no_key=True).get(pk=user.pk)
    is_open = Workspace.objects.owned_by(user).exclude(state__in=OVER)
    if is_open.count() >= settings.OPEN_WORKSPACES_LIMIT:
        raise TooMuch(
            _(
                "You have %(number)s workspaces, which is the most an account may have."
                " End one, or delete data that you no longer need."
            )
            % {"number": _number(settings.OPEN_WORKSPACES_LIMIT)}
        )
    funded = WorkspaceEvent.objects.filter(
        workspace__user=user, quote__isnull=False, at__gt=at - A_DAY
    )
    if funded.count() >= settings.FUNDED_DAILY_LIMIT:
        raise TooMuch(
            _(
                "You have funded %(number)s workspaces within 24 hours, which is the"
                " most. Nothing was held: come back later, or write to us."
            )
            % {"number": _number(settings.FUNDED_DAILY_LIMIT)}
        )


def end_automatic_extension(*, at: datetime) -> int:
    """
    Let what has run as long as anything may end; return how many those were.
    """
    ended = 0
    for workspace in Workspace.objects.filter(state=State.RUNNING).with_names():
        if workspace.time_paid() < timedelta(hours=MAX_HOURS):
            continue
        if billing.hold_of(hold_id=workspace.hold_id).is_extended_automatically:
            switch_auto_extend(
                workspace_id=workspace.pk, is_on=False, actor=None, at=at
            )
            ended += 1
    return ended


def _number(value: int) -> str:
    return formats.number(value, formats.language())
