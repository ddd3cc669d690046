"""
What a supplier does by hand: confirm or refuse starts, note interruptions.
"""

from typing import Any
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from marketplace.models import SupplierMember
from marketplace.suppliers.starts import due_at, rentals_of, running_of, starts_of
from marketplace.views.suppliers.acting import act, supplier_only
from workspaces import services
from workspaces.forms.staff import FailureForm, InterruptionForm, StartForm
from workspaces.models import SshKey, State, Workspace

REFUSALS = (services.IllegalMove,)


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
    form = StartForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        act(
            request,
            services.start_workspace,
            done=_("Started: the renter sees how to connect, and the clock runs."),
            refusals=REFUSALS,
            actor=request.user,
            workspace_id=workspace.pk,
            address=form.cleaned_data["address"],
            host_key=form.cleaned_data["host_key"],
        )
        return redirect("marketplace:supplier_starts")
    context: dict[str, Any] = {
        "member": member,
        "workspace": workspace,
        "due_at": due_at(workspace),
        "form": form,
        "failure_form": FailureForm(),
        "keys": SshKey.objects.filter(user=workspace.user_id).order_by("added_at"),
    }
    status = 422 if form.is_bound else 200
    return render(request, "suppliers/start.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@supplier_only
def refuse_start(
    request: HttpRequest, member: SupplierMember, workspace_id: UUID
) -> HttpResponse:
    workspace = _own(member, workspace_id, State.PROVISIONING)
    form = FailureForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        act(
            request,
            services.fail_workspace,
            done=_("Noted: the node is free again, and the renter is not charged."),
            refusals=REFUSALS,
            actor=request.user,
            workspace_id=workspace.pk,
            reason=form.cleaned_data["reason"],
        )
        return redirect("marketplace:supplier_starts")
    context = {"member": member, "workspace": workspace, "form": form}
    status = 422 if form.is_bound else 200
    return render(request, "suppliers/start_refuse.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
@supplier_only
def interrupt(
    request: HttpRequest, member: SupplierMember, workspace_id: UUID
) -> HttpResponse:
    workspace = _own(member, workspace_id, State.RUNNING)
    form = InterruptionForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        act(
            request,
            services.interrupt_workspace,
            done=_(
                "Interrupted: its last hour is free, and it waits for another node."
            ),
            refusals=REFUSALS,
            actor=request.user,
            workspace_id=workspace.pk,
            **form.cleaned_data,
        )
        return redirect("marketplace:supplier_starts")
    context = {"member": member, "workspace": workspace, "form": form}
    status = 422 if form.is_bound else 200
    return render(request, "suppliers/interrupt.html", context, status=status)


def _own(member: SupplierMember, workspace_id: UUID, state: State) -> Workspace:
    rentals = rentals_of(member.supplier_id)
    return get_object_or_404(rentals, pk=workspace_id, state=state)
