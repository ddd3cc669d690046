"""
What changes a funded workspace without ending it: more time, or going on.
"""

from datetime import datetime
from uuid import UUID

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import (
    require_http_methods,
    require_POST,
    require_safe,
)

import clock
from billing import services as billing
from workspaces import services
from workspaces.forms.changes import ExtendForm, ResumeForm, SeenEndForm
from workspaces.models import Workspace
from workspaces.outlook import cost_of_longer
from workspaces.views.acting import act
from workspaces.views.rentals import own_workspace
from workspaces.views.wallets import available_in


@require_safe
def extend(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    workspace = own_workspace(request, workspace_id)
    if not workspace.can_be_extended:
        return redirect(workspace)
    form = ExtendForm(
        request.GET if "amount" in request.GET else None, workspace=workspace
    )
    return _extend_page(request, workspace, form)


@require_POST
def extend_now(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    workspace = own_workspace(request, workspace_id)
    if not workspace.can_be_extended:
        return redirect(workspace)
    form = ExtendForm(request.POST, workspace=workspace)
    seen = SeenEndForm(request.POST)
    if not (form.is_valid() and seen.is_valid()):
        return _extend_page(request, workspace, form, status=422)
    try:
        services.extend_workspace(
            workspace_id=workspace.pk,
            by=form.by(),
            seen_end=seen.cleaned_data["seen_end"],
            actor=request.user,
            at=clock.now(),
        )
    except services.CANNOT_EXTEND as error:
        form.add_error("amount", str(error))
        return _extend_page(request, workspace, form, status=422)
    messages.success(request, _("Extended. What it costs is held."))
    return redirect(workspace)


def _extend_page(
    request: HttpRequest, workspace: Workspace, form: ExtendForm, *, status: int = 200
) -> HttpResponse:
    end = _end_of(workspace)
    context = {"workspace": workspace, "form": form, "end": end}
    if form.is_bound and form.is_valid():
        hold = billing.hold_of(hold_id=workspace.hold_id)
        meters = billing.meters_of(hold_id=workspace.hold_id)
        cost = cost_of_longer(meters, hold=hold, by=form.by())
        available = available_in(workspace.currency, user_id=workspace.user_id)
        context |= {
            "cost": cost,
            "new_end": end + form.by(),
            "available": available,
            "shortfall": cost - available if cost > available else None,
        }
    return render(request, "workspaces/extend.html", context, status=status)


def _end_of(workspace: Workspace) -> datetime:
    end = workspace.charged_until
    assert end is not None
    return end


@require_POST
def auto_extend(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    workspace = own_workspace(request, workspace_id)
    try:
        services.switch_auto_extend(
            workspace_id=workspace.pk,
            is_on=request.POST.get("is_on") == "yes",
            actor=request.user,
            at=clock.now(),
        )
    except services.CannotExtend as error:
        messages.error(request, str(error))
    return redirect(workspace)


@require_http_methods(["GET", "HEAD", "POST"])
def resume(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    workspace = own_workspace(request, workspace_id)
    if not workspace.can_be_resumed:
        return redirect(workspace)
    form = ResumeForm(
        request.POST if request.method == "POST" else None, workspace=workspace
    )
    if form.is_valid():
        try:
            quote = services.quote_resume(
                user=request.user,
                workspace_id=workspace.pk,
                wanted=form.wanted(),
                at=clock.now(),
            )
        except services.CannotQuote as error:
            form.add_error(error.field, str(error))
        except services.IllegalMove as error:
            form.add_error(None, str(error))
        else:
            return redirect(quote)
    status = 422 if form.is_bound else 200
    context = {"workspace": workspace, "form": form}
    return render(request, "workspaces/resume.html", context, status=status)


@require_POST
def give_up(request: HttpRequest, workspace_id: UUID) -> HttpResponse:
    assert request.user.is_authenticated
    workspace = own_workspace(request, workspace_id)
    done = _("It no longer waits. What was held for it is back.")
    act(request, services.give_up_resume, done=done, workspace_id=workspace.pk)
    return redirect(workspace)
