"""
Both ways, every hour: is what is billed there, and is what is there billed?

It only looks and writes down; what is to be done about it is for a person to say.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from django.db import transaction
from django.db.models import QuerySet

from billing import services as billing
from workspaces.models import Discrepancy, Metered, State, Workspace
from workspaces.models.specification import MAX_HOURS
from workspaces.provisioner import provisioner
from workspaces.states import CHARGED, RULES

if TYPE_CHECKING:
    from marketplace.models import User

Kind = Discrepancy.Kind
REFERENCE = "workspace:"
# The tick and the sweep that end something come after one another.
PATIENCE = timedelta(minutes=10)


@dataclass(frozen=True)
class Finding:
    """
    One thing that does not add up; the same one is found again in the next hour.
    """

    kind: Kind
    workspace_id: UUID | None
    meter: str
    detail: str


@transaction.atomic
def reconcile(*, at: datetime) -> list[Finding]:
    """
    Note what does not add up at `at`, close what is gone, and return what is open.
    """
    findings = [*_billed_but_not_running(), *_running_but_not_billed(at)]
    findings += [*_machines_that_are_down(at), *_too_long(at)]
    seen = [_note(finding, at=at) for finding in findings]
    gone = Discrepancy.objects.filter(resolved_at=None).exclude(pk__in=seen)
    gone.update(resolved_at=at)
    return findings


def overdue(*, at: datetime) -> QuerySet[Workspace]:
    """
    Return what should have ended by now: not empty while the sweeps stand still.
    """
    return Workspace.objects.over_due(at - PATIENCE)


@transaction.atomic
def close_discrepancy(
    *, discrepancy_id: int, actor: "User", note: str, at: datetime
) -> None:
    """
    Note what a person did about it; if it is still there in the next hour, it is back.
    """
    Discrepancy.objects.filter(pk=discrepancy_id, resolved_at=None).update(
        resolved_at=at, resolved_by=actor, note=note
    )


def _note(finding: Finding, *, at: datetime) -> int:
    same: dict[str, Any] = {
        "kind": finding.kind,
        "workspace_id": finding.workspace_id,
        "meter": finding.meter,
        "resolved_at": None,
    }
    row, is_new = Discrepancy.objects.get_or_create(
        **same,
        defaults={
            "detail": finding.detail,
            "first_seen_at": at,
            "last_seen_at": at,
        },
    )
    if not is_new:
        Discrepancy.objects.filter(pk=row.pk).update(
            detail=finding.detail, last_seen_at=at
        )
    return row.pk


def _billed_but_not_running() -> Iterator[Finding]:
    """
    Yield every running meter whose workspace does not run it.
    """
    meters = [
        meter
        for meter in billing.running_meters()
        if meter.reference.startswith(REFERENCE)
    ]
    ids = {meter.reference.removeprefix(REFERENCE) for meter in meters}
    workspaces = {str(row.pk): row for row in Workspace.objects.filter(pk__in=ids)}
    for meter in meters:
        workspace = workspaces.get(meter.reference.removeprefix(REFERENCE))
        if workspace is None:
            yield Finding(
                Kind.BILLED_NOT_RUNNING,
                None,
                str(meter.id),
                f"Meter {meter.id} bills {meter.reference}, which is not there.",
            )
        elif meter.id not in (workspace.compute_meter_id, workspace.storage_meter_id):
            yield Finding(
                Kind.BILLED_NOT_RUNNING,
                workspace.pk,
                str(meter.id),
                f"Meter {meter.id} ({meter.name}) runs; the workspace is"
                f" {workspace.state} and does not know it.",
            )


def _running_but_not_billed(at: datetime) -> Iterator[Finding]:
    """
    Yield every workspace that should charge for something that no meter counts.
    """
    running = {meter.id for meter in billing.running_meters()}
    charged = Workspace.objects.filter(state__in=CHARGED).with_names()
    for workspace in charged:
        end = workspace.charged_until
        if end is not None and end <= at - PATIENCE:
            continue
        for kind, meter_id in _meters_of(workspace):
            if kind in RULES[State(workspace.state)].meters and (
                meter_id not in running and not _is_over(workspace, kind, at)
            ):
                yield Finding(
                    Kind.RUNNING_NOT_BILLED,
                    workspace.pk,
                    kind.value,
                    f"The workspace is {workspace.state}; no {kind.value} meter runs.",
                )


def _meters_of(workspace: Workspace) -> list[tuple[Metered, int | None]]:
    meters = [(Metered.COMPUTE, workspace.compute_meter_id)]
    if workspace.storage_gb and workspace.quote.storage_rate.amount:
        meters.append((Metered.STORAGE, workspace.storage_meter_id))
    return meters


def _is_over(workspace: Workspace, kind: Metered, at: datetime) -> bool:
    """
    Return whether its time is just over, so that the sweep will end it next.
    """
    end = workspace.ends_at if kind == Metered.COMPUTE else workspace.kept_until
    return end is not None and end <= at


def _machines_that_are_down(at: datetime) -> Iterator[Finding]:
    adapter = provisioner()
    for workspace in Workspace.objects.filter(state=State.RUNNING).with_names():
        seen = adapter.observe(workspace, at=at)
        if seen is not None and seen.down_since is not None:
            yield Finding(
                Kind.MACHINE_DOWN,
                workspace.pk,
                "",
                f"The machine is down since {seen.down_since:%Y-%m-%d %H:%M} UTC.",
            )


def _too_long(at: datetime) -> Iterator[Finding]:
    """
    Yield what the sweeps should have ended: the guards are guarded themselves.
    """
    for workspace in overdue(at=at):
        yield Finding(
            Kind.GUARD_FAILED,
            workspace.pk,
            "",
            f"It should have left {workspace.state} more than"
            f" {PATIENCE.seconds // 60} minutes ago.",
        )
    most = timedelta(hours=MAX_HOURS + 2)
    for workspace in Workspace.objects.filter(state=State.RUNNING).with_names():
        if (workspace.time_used(at) or timedelta()) > most:
            yield Finding(
                Kind.GUARD_FAILED, workspace.pk, "hours", f"It runs for {MAX_HOURS} h."
            )
