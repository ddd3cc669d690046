"""
Pages that exist in the demo alone.
"""

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from post_office.models import Email

from access import demo_only

MAILS_SHOWN = 50


@require_safe
@login_not_required
@never_cache
@demo_only
def mailbox(request: HttpRequest) -> HttpResponse:
    mails = Email.objects.only("to", "subject", "message", "created")
    context = {"mails": mails.order_by("-pk")[:MAILS_SHOWN]}
    return render(request, "marketplace/mailbox.html", context)
