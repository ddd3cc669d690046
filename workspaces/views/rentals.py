from typing import Any
from uuid import UUID

from django.conf import settings
from django.contrib.postgres.expressions import ArraySubquery
from django.db.models import BooleanField, F, Func, OuterRef
from django.db.models.functions import JSONObject
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_safe,
)

import clock
from billing import services as billing
from catalog.asks import Place
from catalog.models import Region
from workspaces import queueing, services
from workspaces.bill import bill
from workspaces.forms.changes import StopForm
from workspaces.models import Draft, SshKey, Workspace
from workspaces.outlook import if_stopped
from workspaces.recipes.commands import has_recipe
from workspaces.states import OVER
from workspaces.timeline import Entry, timeline
from workspaces.views.acting import act


@require_safe
def list_workspaces(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    at = clock.now()
    workspaces = (
        Workspace.objects.owned_by(request.user).with_names().order_by("-funded_at")
    )
    rows = [(workspace, workspace.time_left(at)) for workspace in workspaces]
    context = {
        "current": [row for row in rows if row[0].state not in OVER],
        "over": [row for row in rows if row[0].state in OVER],
        "drafts": Draft.objects.filter(user=request.user).order_by("-saved_at"),
    }
    return render(request, "workspaces/list.html", context)


def own_workspace(request: HttpRequest, workspace_id: UUID, **more: Any) -> Any:
    assert request.user.is_authenticated
    workspaces = Workspace.objects.owned_by(request.user).with_names()
    workspaces = workspaces.select_related("offer__listing").annotate(**more)
    return get_object_or_404(workspaces, pk=workspace_id)


def _places() -> ArraySubquery:
    """
    Return the regions that were asked for, named, within the query of a workspace.
    """
    is_asked = Func(
        F("slug"),
        OuterRef("regions"),
        template="%(expressions)s)",
        arg_joiner=" = ANY(",
        output_field=BooleanField(),
    )
    asked = Region.objects.filter(is_asked)
    place = JSONObject(slug="slug", name="name", city="city")
    return ArraySubquery(asked.order_by("name").values(place=place))


@require_safe
def show_workspace(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    workspace = own_workspace(
        request,
        workspace_id,
        places=_places(),
        rank=queueing.rank(),
        place=queueing.place(),
    )
    at = clock.now()
    charges = bill(
        workspace,
        charges=billing.charges_of(hold_id=workspace.hold_id),
        meters=billing.meters_of(hold_id=workspace.hold_id),
        is_whole="all" in request.GET,
    )
    events = workspace.events.select_related("quote").order_by("pk")
    entries = timeline(workspace, events)
    context = {
        "workspace": workspace,
        "hold": billing.hold_of(hold_id=workspace.hold_id),
        "bill": charges,
        "entries": entries,
        "time_left": workspace.time_left(at),
        "time_used": workspace.time_used(at),
        "hours_paid": workspace.hours_paid(),
        "interruption": _interruption(workspace, entries),
        "place": workspace.place if workspace.is_waiting else None,
        "regions": [Place(**place) for place in workspace.places],
        "has_recipe": has_recipe(workspace),
        "keys": SshKey.objects.filter(user=workspace.user_id).order_by("added_at"),
        "is_simulated": settings.PROVISIONER == "simulated",
    }
    return render(request, "workspaces/detail.html", context)


def _interruption(workspace: Workspace, entries: list[Entry]) -> Entry | None:
    """
    Return what broke off a workspace that waits because of it.
    """
    if not workspace.is_interrupted:
        return None
    return next((entry for entry in reversed(entries) if entry.is_bad), None)


@require_http_methods(["GET", "HEAD", "POST"])
def cancel(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    workspace = own_workspace(request, workspace_id)
    if request.method == "POST":
        done = _("Cancelled. The whole hold is back in your wallet.")
        act(request, services.cancel_workspace, done=done, workspace_id=workspace.pk)
        return redirect(workspace)
    if not workspace.can_be_cancelled:
        return redirect(workspace)
    hold = billing.hold_of(hold_id=workspace.hold_id)
    context = {"workspace": workspace, "hold": hold}
    return render(request, "workspaces/cancel.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def stop(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    workspace = own_workspace(request, workspace_id)
    form = StopForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        act(
            request,
            services.stop_workspace,
            done=_("Stopped, and billed to the second. The rest came back."),
            workspace_id=workspace.pk,
            **form.cleaned_data,
        )
        return redirect(workspace)
    if not workspace.can_be_stopped:
        return redirect(workspace)
    hold = billing.hold_of(hold_id=workspace.hold_id)
    meters = billing.meters_of(hold_id=workspace.hold_id)
    outlook = if_stopped(workspace, hold=hold, meters=meters, at=clock.now())
    context = {"workspace": workspace, "outlook": outlook, "form": form}
    status = 422 if form.is_bound else 200
    return render(request, "workspaces/stop.html", context, status=status)


@require_http_methods(["GET", "HEAD", "POST"])
def delete(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    workspace = own_workspace(request, workspace_id)
    if request.method == "POST":
        done = _("The data are deleted. What was left has come back.")
        act(request, services.delete_data, done=done, workspace_id=workspace.pk)
        return redirect(workspace)
    if not workspace.can_delete_data:
        return redirect(workspace)
    context = {
        "workspace": workspace,
        "hold": billing.hold_of(hold_id=workspace.hold_id),
    }
    return render(request, "workspaces/delete.html", context)
