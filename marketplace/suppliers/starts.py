"""
Starts that wait for a supplier, and what runs on its nodes.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta
from zoneinfo import ZoneInfo

from django.conf import settings
from django.db.models import QuerySet

import formats
from billing.mails import queue_mail
from catalog.models import Listing
from marketplace import outbox
from marketplace.models import StartNotice, SupplierMember, User
from marketplace.suppliers.companies import desk_url
from workspaces.models import State, Workspace
from workspaces.states import STARTING


@dataclass(frozen=True)
class Start:
    """
    A start to confirm; after `due_at` the request looks for another node.
    """

    workspace: Workspace
    due_at: datetime | None


def rentals_of(supplier_id: int) -> QuerySet[Workspace]:
    """
    Return what is being started or runs on a supplier's nodes, never who rents it.
    """
    return Workspace.objects.filter(offer__supplier=supplier_id).with_names()


def starts_of(supplier_id: int) -> list[Start]:
    """
    Return the starts that wait for a supplier, the most pressing first.
    """
    rows = rentals_of(supplier_id).filter(state__in=STARTING)
    return [Start(row, due_at(row)) for row in rows.order_by("provisioning_at")]


def running_of(supplier_id: int) -> list[Workspace]:
    """
    Return what runs on a supplier's nodes, what ends first first.
    """
    running = rentals_of(supplier_id).filter(state=State.RUNNING)
    return list(running.order_by("compute_meter__ends_at"))


def due_at(workspace: Workspace) -> datetime | None:
    """
    Return until when somebody has to confirm the start of a workspace.
    """
    if workspace.provisioning_at is None:
        return None
    return workspace.provisioning_at + timedelta(minutes=settings.MANUAL_START_MINUTES)


def send_start_notices(*, at: datetime) -> int:
    """
    Tell suppliers by mail, once for each, of the starts that wait for them.
    """
    waiting = Workspace.objects.filter(
        state=State.PROVISIONING,
        offer__in=Listing.objects.values("pk"),
        provisioning_at__isnull=False,
    ).with_names()
    sent = 0
    for workspace in waiting.select_related("offer__supplier"):
        assert workspace.provisioning_at is not None
        _notice, is_new = StartNotice.objects.get_or_create(
            workspace=workspace,
            begun_at=workspace.provisioning_at,
            defaults={"sent_at": at},
        )
        if is_new:
            _tell(workspace)
            sent += 1
    if sent:
        outbox.send_soon()
    return sent


def _tell(workspace: Workspace) -> None:
    assert workspace.offer is not None
    members = SupplierMember.objects.filter(
        supplier=workspace.offer.supplier_id, user__is_active=True
    )
    for member in members.select_related("user"):
        assert member.user is not None
        queue_mail(
            "supplier_start",
            to=member.user.email,
            language=member.user.language,
            workspace=workspace,
            due_at=_written(due_at(workspace), member.user),
            url=desk_url("supplier_starts", member.user.language),
        )


def _written(at: datetime | None, user: User) -> str:
    if at is None:
        return ""
    return formats.date_time(at, user.language, ZoneInfo(user.time_zone))
