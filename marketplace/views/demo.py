"""
Pages that exist in the demo alone.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from post_office.models import Email

View = Callable[..., HttpResponse]

MAILS_SHOWN = 50


def demo_only(view: View) -> View:
    """
    Answer as if the page did not exist, outside the demo.
    """

    @wraps(view)
    def guarded(request: HttpRequest, **kwargs: Any) -> HttpResponse:
        if not settings.DEMO:
            raise Http404
        return view(request, **kwargs)

    return guarded


@require_safe
@login_not_required
@never_cache
@demo_only
def mailbox(request: HttpRequest) -> HttpResponse:
    mails = Email.objects.only("to", "subject", "message", "created")
    context = {"mails": mails.order_by("-pk")[:MAILS_SHOWN]}
    return render(request, "marketplace/mailbox.html", context)
