import logging
import time
from collections.abc import Callable
from zoneinfo import ZoneInfo

from django.conf import settings
from django.contrib.auth import logout
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.cache import add_never_cache_headers

from marketplace.second_factor import is_proven, lead_to_proof

logger = logging.getLogger(__name__)

Answer = Callable[[HttpRequest], HttpResponse]


class SessionLimitsMiddleware:
    """
    End sessions that were unused for too long, or that began too long ago.

    It goes by real time: the demo's clock runs ahead, and would log everybody out.
    """

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and self._is_over(request):
            logger.info("A session is over")
            logout(request)
        response = self.get_response(request)
        # Afterwards: a log-in has begun the session by now, and saves it anyway.
        if request.user.is_authenticated:
            self._note(request)
        return response

    def _is_over(self, request: HttpRequest) -> bool:
        now = time.time()
        idle, longest = self._limits(request)
        seen: float = request.session.get("seen", now)
        began: float = request.session.get("began", now)
        return now - seen > idle or now - began > longest

    def _note(self, request: HttpRequest) -> None:
        now, session = int(time.time()), request.session
        session.setdefault("began", now)
        # Not with each request, as each would write a row.
        if now - session.get("seen", 0) > self._limits(request)[0] / 12:
            session["seen"] = now

    @staticmethod
    def _limits(request: HttpRequest) -> tuple[float, float]:
        is_staff = request.user.is_authenticated and request.user.is_staff
        limits = settings.STAFF_SESSION_LIMITS if is_staff else settings.SESSION_LIMITS
        idle, longest = (limit.total_seconds() for limit in limits)
        return idle, longest


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
    """

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        is_staff = request.user.is_authenticated and request.user.is_staff
        if is_staff and not self._is_account_page(request) and not is_proven(request):
            return lead_to_proof(request)
        return self.get_response(request)

    @staticmethod
    def _is_account_page(request: HttpRequest) -> bool:
        # The log-out page among them: every path below the one of the log-in page.
        return request.path_info.startswith(
            reverse("account_login").removesuffix("login/")
        )
