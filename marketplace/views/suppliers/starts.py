"""
What a supplier does by hand: confirm or refuse starts, note interruptions.
"""

from functools import partial
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_http_methods, require_safe

from marketplace.models import SupplierMember
from marketplace.suppliers.starts import due_at, rentals_of, running_of, starts_of
from marketplace.views.suppliers.acting import supplier_only
from workspaces.models import State, Workspace
from workspaces.views.machine_steps import (
    FAIL,
    INTERRUPT,
    START,
    beside_the_start,
    take_step,
)

_take_step = partial(take_step, folder="suppliers", then="marketplace:supplier_starts")


@require_safe
@supplier_only
def starts(request: HttpRequest, member: SupplierMember) -> HttpResponse:
    context = {
        "member": member,
        "starts": starts_of(member.supplier_id),
        "running": running_of(member.supplier_id),
        "minutes": settings.MANUAL_START_MINUTES,
    }
    return render(request, "suppliers/starts.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@supplier_only
def start(
    request: HttpRequest, member: SupplierMember, workspace_id: UUID
) -> HttpResponse:
    workspace = _own(member, workspace_id, State.PROVISIONING)
    beside = {"due_at": due_at(workspace), **beside_the_start(workspace)}
    return _take_step(request, START, workspace, "start.html", member=member, **beside)


@require_http_methods(["GET", "HEAD", "POST"])
@supplier_only
def refuse_start(
    request: HttpRequest, member: SupplierMember, workspace_id: UUID
) -> HttpResponse:
    workspace = _own(member, workspace_id, State.PROVISIONING)
    return _take_step(request, FAIL, workspace, "start_refuse.html", member=member)


@require_http_methods(["GET", "HEAD", "POST"])
@supplier_only
def interrupt(
    request: HttpRequest, member: SupplierMember, workspace_id: UUID
) -> HttpResponse:
    workspace = _own(member, workspace_id, State.RUNNING)
    return _take_step(request, INTERRUPT, workspace, "interrupt.html", member=member)


def _own(member: SupplierMember, workspace_id: UUID, state: State) -> Workspace:
    rentals = rentals_of(member.supplier_id)
    return get_object_or_404(rentals, pk=workspace_id, state=state)
