"""
What staff do by hand: confirm starts, note interruptions, look into what differs.
"""

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.contrib import messages
from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

import clock
from access import staff_only
from workspaces import services
from workspaces.forms.staff import FailureForm, InterruptionForm, NoteForm, StartForm
from workspaces.models import Discrepancy, SshKey, State, Workspace
from workspaces.states import STARTING
from workspaces.views.acting import act

CLOSED_SHOWN = 20


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
    keys = SshKey.objects.filter(user=workspace.user_id).order_by("added_at")
    return _confirm(
        request,
        workspace,
        services.start_workspace,
        template="workspaces/staff/start.html",
        form=StartForm(_posted(request)),
        tells=("address", "host_key"),
        done=_("Started: the renter sees how to connect, and the clock runs."),
        context={"failure_form": FailureForm(), "keys": keys},
    )


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def fail(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    return _confirm(
        request,
        _in_state(workspace_id, State.PROVISIONING),
        services.fail_workspace,
        template="workspaces/staff/fail.html",
        form=FailureForm(_posted(request)),
        tells=("reason",),
        done=_("Noted: the node is free again, and the renter is not charged."),
    )


@require_http_methods(["GET", "HEAD", "POST"])
@staff_only
def interrupt(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    return _confirm(
        request,
        _in_state(workspace_id, State.RUNNING),
        services.interrupt_workspace,
        template="workspaces/staff/interrupt.html",
        form=InterruptionForm(_posted(request)),
        tells=("code", "reason", "is_withdrawn"),
        done=_("Interrupted: its last hour is free, and it waits for another node."),
    )


def _confirm(
    request: HttpRequest,
    workspace: Workspace,
    verb: Callable[..., Any],
    *,
    template: str,
    form: Form,
    tells: tuple[str, ...],
    done: str,
    context: dict[str, Any] | None = None,
) -> HttpResponse:
    """
    Do with a workspace what the named fields of a valid form tell, or show the form.
    """
    if form.is_valid():
        told = {name: form.cleaned_data[name] for name in tells}
        act(request, verb, done=done, workspace_id=workspace.pk, **told)
        return redirect("workspaces:machines")
    return render(
        request,
        template,
        {"workspace": workspace, "form": form, **(context or {})},
        status=422 if form.is_bound else 200,
    )


def _in_state(workspace_id: UUID, state: State) -> Workspace:
    workspaces = Workspace.objects.with_names().select_related(
        "user", "offer__supplier"
    )
    return get_object_or_404(workspaces, pk=workspace_id, state=state)


def _posted(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


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
    form = NoteForm(_posted(request))
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
