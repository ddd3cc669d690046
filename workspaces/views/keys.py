from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_POST

import clock
from workspaces import services
from workspaces.forms.keys import KeyForm
from workspaces.models import SshKey
from workspaces.ssh import KeyRefused


@require_http_methods(["GET", "HEAD", "POST"])
def keys(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    form = KeyForm(request.POST if request.method == "POST" else None)
    if form.is_valid():
        try:
            key = services.add_key(
                user=request.user, at=clock.now(), **form.cleaned_data
            )
        except KeyRefused as error:
            if "PRIVATE KEY" in form.cleaned_data["pasted"]:
                # What must not be here does not go back into the page either.
                form = KeyForm({"pasted": "", "name": form.cleaned_data["name"]})
                form.errors.clear()
            form.add_error("pasted", str(error))
        else:
            messages.success(
                request,
                _("Key “%(name)s” opens what starts from now on.") % {"name": key},
            )
            return redirect("workspaces:keys")
    status = 422 if form.is_bound else 200
    own = SshKey.objects.filter(user=request.user).order_by("added_at", "pk")
    context = {"form": form, "keys": own}
    return render(request, "workspaces/keys.html", context, status=status)


@require_POST
def remove_key(request: HttpRequest, key_id: int) -> HttpResponse:
    assert request.user.is_authenticated
    key = get_object_or_404(SshKey, user=request.user, pk=key_id)
    key.delete()
    messages.success(
        request,
        _("Key “%(name)s” is removed. What runs already still has it.") % {"name": key},
    )
    return redirect("workspaces:keys")
