from collections.abc import Callable
from zoneinfo import ZoneInfo

from allauth.account.authentication import get_authentication_records
from allauth.mfa.utils import is_mfa_enabled
from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers
from django.utils.http import urlencode

Answer = Callable[[HttpRequest], HttpResponse]


class PersonalPagesMiddleware:
    """
    Keep what a logged-in person sees out of every cache, and in their time zone.
    """

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.user.is_authenticated:
            return self.get_response(request)
        with timezone.override(ZoneInfo(request.user.time_zone)):
            response = self.get_response(request)
        add_never_cache_headers(response)
        return response


class StaffSecondFactorMiddleware:
    """
    Let staff past their account pages only in a session proven by a second factor.

    A session that began before the second factor was set up does not count.
    """

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if self._is_proven(request) or self._is_account_page(request):
            return self.get_response(request)
        if not is_mfa_enabled(request.user):
            return redirect("mfa_index")
        query = urlencode({"next": request.get_full_path()})
        return redirect(f"{reverse('mfa_reauthenticate')}?{query}")

    @staticmethod
    def _is_proven(request: HttpRequest) -> bool:
        user = request.user
        if settings.DEMO or not user.is_authenticated or not user.is_staff:
            return True
        records = get_authentication_records(request, user)
        return any(record.get("method") == "mfa" for record in records)

    @staticmethod
    def _is_account_page(request: HttpRequest) -> bool:
        # The log-out page among them: every path below the one of the log-in page.
        return request.path_info.startswith(
            reverse("account_login").removesuffix("login/")
        )
