"""
What staff do by hand: confirm starts, note interruptions, look into what differs.
"""

from functools import partial
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

import clock
from access import staff_only
from workspaces import services
from workspaces.forms.staff import NoteForm
from workspaces.models import Discrepancy, State, Workspace
from workspaces.states import STARTING
from workspaces.views.machine_steps import (
    FAIL,
    INTERRUPT,
    START,
    beside_the_start,
    posted,
    take_step,
)

CLOSED_SHOWN = 20

_take_step = partial(take_step, folder="workspaces/staff", then="workspaces:machines")


@require_safe
@staff_only
def machines(request: HttpRequest) -> HttpResponse:
    workspaces = Workspace.objects.with_names().select_related(
        "user", "offer__supplier"
    )
    context = {
        "starting": workspaces.filter(state__in=STARTING).order_by("funded_at"),
        "running": workspaces.filter(state=State.RUNNING).order_by("funded_at"),
    }
    return render(request, "workspaces/staff/machines.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def start(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    workspace = _in_state(workspace_id, State.PROVISIONING)
    beside = beside_the_start(workspace)
    return _take_step(request, START, workspace, "start.html", **beside)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def fail(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    workspace = _in_state(workspace_id, State.PROVISIONING)
    return _take_step(request, FAIL, workspace, "fail.html")


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def interrupt(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    workspace = _in_state(workspace_id, State.RUNNING)
    return _take_step(request, INTERRUPT, workspace, "interrupt.html")


def _in_state(workspace_id: UUID, state: State) -> Workspace:
    workspaces = Workspace.objects.with_names().select_related(
        "user", "offer__supplier"
    )
    return get_object_or_404(workspaces, pk=workspace_id, state=state)


@require_safe
@staff_only
def differences(request: HttpRequest) -> HttpResponse:
    rows = Discrepancy.objects.select_related("workspace", "resolved_by")
    context = {
        "open": rows.filter(resolved_at=None).order_by("pk"),
        "closed": rows.exclude(resolved_at=None).order_by("-resolved_at")[
            :CLOSED_SHOWN
        ],
        "form": NoteForm(),
        # Asked here, as nothing else would tell while beat and workers are down.
        "overdue": services.overdue(at=clock.now()).count(),
    }
    return render(request, "workspaces/staff/differences.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def close_difference(request: HttpRequest, discrepancy_id: int) -> HttpResponse:
    assert request.user.is_authenticated
    row = get_object_or_404(Discrepancy, pk=discrepancy_id)
    form = NoteForm(posted(request))
    if form.is_valid():
        services.close_discrepancy(
            discrepancy_id=row.pk,
            actor=request.user,
            at=clock.now(),
            **form.cleaned_data,
        )
        messages.success(request, _("Closed. If it is still there, it comes back."))
        return redirect("workspaces:differences")
    status = 422 if form.is_bound else 200
    context = {"row": row, "form": form}
    return render(request, "workspaces/staff/close.html", context, status=status)
