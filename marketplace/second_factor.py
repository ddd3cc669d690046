"""
Which sessions are proven by a second factor, and how to prove one.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from allauth.account.authentication import get_authentication_records
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.http import urlencode
from django.utils.translation import gettext as _

View = Callable[..., HttpResponseBase]


def is_proven(request: HttpRequest) -> bool:
    """
    Say whether a second factor was shown in this session; in the demo none is needed.

    A session that began before the second factor was set up does not count.
    """
    records = get_authentication_records(request, request.user)
    return settings.DEMO or any(record.get("method") == "mfa" for record in records)


def lead_to_proof(request: HttpRequest) -> HttpResponse:
    """
    Lead to where a second factor is set up, or shown, and from there back.
    """
    if not is_mfa_enabled(request.user):
        messages.info(request, _("This page needs a second factor: set one up first."))
        return redirect("mfa_index")
    query = urlencode({"next": request.get_full_path()})
    return redirect(f"{reverse('mfa_reauthenticate')}?{query}")


def second_factor_only(view: View) -> View:
    """
    Keep a page for sessions that are proven by a second factor.
    """

    @wraps(view)
    def guarded(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if not is_proven(request):
            return lead_to_proof(request)
        return view(request, **kwargs)

    return guarded
