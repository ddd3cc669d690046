from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import translation
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from marketplace.forms import ProfileForm


@require_http_methods(["GET", "HEAD", "POST"])
def profile(request: HttpRequest) -> HttpResponse:
    assert request.user.is_authenticated
    form = ProfileForm(request.POST or None, instance=request.user)
    if form.is_valid():
        user = form.save()
        with translation.override(user.language):
            messages.success(request, _("Your profile is saved."))
            return redirect("marketplace:profile")
    status = 422 if form.is_bound else 200
    context = {"form": form}
    return render(request, "marketplace/profile.html", context, status=status)
