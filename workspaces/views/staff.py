"""
What staff do by hand: confirm starts, note interruptions, look into what differs.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

import clock
from workspaces import services
from workspaces.forms.staff import FailureForm, InterruptionForm, NoteForm, StartForm
from workspaces.models import Discrepancy, SshKey, State, Workspace
from workspaces.states import STARTING

View = Callable[..., HttpResponse]
CLOSED_SHOWN = 20


def staff_only(view: View) -> View:
    """
    Answer everybody else as if the page did not exist.
    """

    @wraps(view)
    def guarded(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if not (request.user.is_active and request.user.is_staff):
            raise Http404
        return view(request, **kwargs)

    return guarded


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
    form = StartForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _act(
            request,
            services.start_workspace,
            _("Started: the renter sees how to connect, and the clock runs."),
            workspace_id=workspace.pk,
            address=form.cleaned_data["address"],
            host_key=form.cleaned_data["host_key"],
        )
    context = {
        "workspace": workspace,
        "form": form,
        "failure_form": FailureForm(),
        "keys": SshKey.objects.filter(user=workspace.user_id).order_by("added_at"),
    }
    status = 422 if form.is_bound else 200
    return render(request, "workspaces/staff/start.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def fail(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    workspace = _in_state(workspace_id, State.PROVISIONING)
    form = FailureForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _act(
            request,
            services.fail_workspace,
            _("Noted: the node is free again, and the renter is not charged."),
            workspace_id=workspace.pk,
            reason=form.cleaned_data["reason"],
        )
    status = 422 if form.is_bound else 200
    context = {"workspace": workspace, "form": form}
    return render(request, "workspaces/staff/fail.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def interrupt(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    workspace = _in_state(workspace_id, State.RUNNING)
    form = InterruptionForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        return _act(
            request,
            services.interrupt_workspace,
            _("Interrupted: its last hour is free, and it waits for another node."),
            workspace_id=workspace.pk,
            **form.cleaned_data,
        )
    status = 422 if form.is_bound else 200
    context = {"workspace": workspace, "form": form}
    return render(request, "workspaces/staff/interrupt.html", context, status=status)


def _in_state(workspace_id: UUID, state: State) -> Workspace:
    workspaces = Workspace.objects.with_names().select_related(
        "user", "offer__supplier"
    )
    return get_object_or_404(workspaces, pk=workspace_id, state=state)


def _act(
    request: HttpRequest, verb: Callable[..., Any], done: str, **told: Any
) -> HttpResponse:
    try:
        verb(actor=request.user, at=clock.now(), **told)
    except services.IllegalMove as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
    return redirect("workspaces:machines")


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
    }
    return render(request, "workspaces/staff/differences.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def close_difference(request: HttpRequest, discrepancy_id: int) -> HttpResponse:
    assert request.user.is_authenticated
    row = get_object_or_404(Discrepancy, pk=discrepancy_id)
    form = NoteForm(request.POST if request.method == "POST" else None)
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
