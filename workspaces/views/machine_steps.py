"""
What suppliers, and staff in their place, say of a machine: each step is one form.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.forms import Form
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from workspaces import services
from workspaces.forms.staff import FailureForm, InterruptionForm, StartForm
from workspaces.models import SshKey, Workspace
from workspaces.views.acting import act


@dataclass(frozen=True, kw_only=True)
class Step:
    """
    What is done with a workspace, by the fields that a valid form `tells`.
    """

    verb: Callable[..., Any]
    form: type[Form]
    tells: tuple[str, ...]
    done: Promise


START = Step(
    verb=services.start_workspace,
    form=StartForm,
    tells=("address", "host_key"),
    done=_("Started: the renter sees how to connect, and the clock runs."),
)
FAIL = Step(
    verb=services.fail_workspace,
    form=FailureForm,
    tells=("reason",),
    done=_("Noted: the node is free again, and the renter is not charged."),
)
INTERRUPT = Step(
    verb=services.interrupt_workspace,
    form=InterruptionForm,
    tells=("code", "reason", "is_withdrawn"),
    done=_("Interrupted: its last hour is free, and it waits for another node."),
)


def take_step(
    request: HttpRequest,
    step: Step,
    workspace: Workspace,
    page: str,
    *,
    folder: str,
    then: str,
    **context: Any,
) -> HttpResponse:
    """
    Do what the form of a step tells and go on to `then`, or show the form's page.
    """
    form = step.form(posted(request))
    if form.is_valid():
        told = {name: form.cleaned_data[name] for name in step.tells}
        act(request, step.verb, done=str(step.done), workspace_id=workspace.pk, **told)
        return redirect(then)
    context |= {"workspace": workspace, "form": form}
    status = 422 if form.is_bound else 200
    return render(request, f"{folder}/{page}", context, status=status)


def posted(request: HttpRequest) -> QueryDict | None:
    return request.POST if request.method == "POST" else None


def beside_the_start(workspace: Workspace) -> dict[str, Any]:
    """
    Return what the page of a start shows beside its form.
    """
    keys = SshKey.objects.filter(user=workspace.user_id)
    return {"failure_form": FailureForm(), "keys": keys.order_by("added_at")}
