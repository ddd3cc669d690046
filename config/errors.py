"""
What is answered when something is in the way: too busy, too often, too old.
"""

import logging
import sys
from http import HTTPStatus

from django.db import InterfaceError, OperationalError
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template.loader import render_to_string
from redis.exceptions import RedisError

TRY_AGAIN_SECONDS = 10
CALM_DOWN_SECONDS = 60

# The database does not answer, or not in time; the count of log-ins cannot be kept.
BUSY = (OperationalError, InterfaceError, RedisError)

logger = logging.getLogger(__name__)


def broken(request: HttpRequest) -> HttpResponse:
    """
    Say that something broke; or, when waiting helps, that the site is busy.

    The pages use no database, as it may be what is broken.
    """
    if not isinstance(sys.exc_info()[1], BUSY):
        return HttpResponse(render_to_string("500.html"), status=500)
    response = HttpResponse(
        render_to_string("503.html"), status=HTTPStatus.SERVICE_UNAVAILABLE
    )
    response["Retry-After"] = str(TRY_AGAIN_SECONDS)
    return response


def too_many(request: HttpRequest) -> HttpResponse:
    """
    Say that somebody asked for the same too often.
    """
    logger.warning("Too many requests for %s", request.path)
    response = render(request, "429.html", status=HTTPStatus.TOO_MANY_REQUESTS)
    response["Retry-After"] = str(CALM_DOWN_SECONDS)
    return response


def too_old(request: HttpRequest, reason: str = "") -> HttpResponse:
    """
    Say that a form had no valid token; a part of a page is answered with a part.
    """
    is_part = request.headers.get("HX-Request") == "true"
    page = "_too_old.html" if is_part else "403_csrf.html"
    return render(request, page, status=HTTPStatus.FORBIDDEN)
