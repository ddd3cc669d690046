"""
Browsers: how people call them, and which of them somebody logged in with before.

A browser is known by a cookie that names nobody and is of use to nobody: it only keeps
the mail about a new one from being sent.
"""

from allauth.account.adapter import get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.signals import authenticator_used
from django.conf import settings
from django.dispatch import receiver
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare, salted_hmac
from django.utils.translation import gettext as _
from ua_parser import parse

from marketplace.models import User

SECONDS_KNOWN = 365 * 24 * 3600
# Of a browser that several people share, the last ones are known.
MOST_PEOPLE = 5


def name_of(user_agent: str) -> str:
    """
    Return what people call a browser, like "Firefox on Linux".
    """
    found = parse(user_agent)
    browser = found.user_agent.family if found.user_agent else ""
    system = found.os.family if found.os else ""
    if browser and system:
        return _("%(browser)s on %(system)s") % {"browser": browser, "system": system}
    return browser or system or _("an unknown browser")


def is_known(request: HttpRequest, user: User) -> bool:
    """
    Say whether this person logged in with this browser before.
    """
    mark = _mark_of(user)
    return any(constant_time_compare(mark, known) for known in _marks_in(request))


def remember(request: HttpRequest, response: HttpResponse, user: User) -> None:
    mark = _mark_of(user)
    marks = [mark, *(known for known in _marks_in(request) if known != mark)]
    response.set_cookie(
        settings.BROWSER_COOKIE_NAME,
        ".".join(marks[:MOST_PEOPLE]),
        max_age=SECONDS_KNOWN,
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def tell_of_new_browser(request: HttpRequest, user: User) -> None:
    """
    Tell somebody by mail that a browser logged in that never did before.
    """
    name = name_of(request.headers.get("User-Agent", ""))
    context = {"user": user, "browser": name}
    get_adapter().send_notification_mail("account/email/new_browser", user, context)


@receiver(authenticator_used)  # allauth tells it in no other way.
def tell_of_recovery_code(
    *, user: User, authenticator: Authenticator, **_kwargs: object
) -> None:
    """
    Tell somebody by mail that a recovery code was used in place of a second factor.
    """
    if authenticator.type != Authenticator.Type.RECOVERY_CODES:
        return
    authenticator.refresh_from_db()
    left = len(authenticator.wrap().get_unused_codes())
    context = {"user": user, "left": left}
    get_adapter().send_notification_mail("mfa/email/recovery_code_used", user, context)


def _mark_of(user: User) -> str:
    salt = "marketplace.devices"
    return salted_hmac(salt, str(user.pk), algorithm="sha256").hexdigest()


def _marks_in(request: HttpRequest) -> list[str]:
    cookie = request.COOKIES.get(settings.BROWSER_COOKIE_NAME, "")
    return cookie.split(".")[:MOST_PEOPLE]
