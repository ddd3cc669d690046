"""
Pages that exist in the demo alone.
"""

import re

from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from post_office.models import Email

from access import demo_only

MAILS_SHOWN = 50
LANGUAGE = re.compile(r'<html lang="([a-z-]+)"')


@require_safe
@login_not_required
@never_cache
@demo_only
def mailbox(request: HttpRequest) -> HttpResponse:
    mails = Email.objects.only("to", "subject", "message", "html_message", "created")
    newest = mails.order_by("-pk")[:MAILS_SHOWN]
    context = {"mails": [(mail, _language_of(mail)) for mail in newest]}
    return render(request, "marketplace/mailbox.html", context)


def _language_of(mail: Email) -> str:
    """
    Return the language that a mail was written in, empty if nothing says it.
    """
    found = LANGUAGE.search(mail.html_message)
    return found[1] if found else ""
