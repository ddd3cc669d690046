"""
What browsers report that the content security policy kept from running.

Anybody can send such a report, so little of it is believed and less of it is kept: one
line of the log, without addresses that could log somebody in.
"""

import json
import logging
import re
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.urls import Resolver404, resolve
from django.utils import translation
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST

from config.logs import asked
from limits import WINDOW_SECONDS, counter

MOST_BYTES = 10_000
# In a minute: of one client, and of all together, so that nobody fills the log.
MOST_OF_A_CLIENT = 10
MOST_OF_ALL = 100
WORD = re.compile(r"[a-z-]{1,40}", re.ASCII)
HOST = re.compile(r"[a-z0-9.:\[\]-]{1,253}", re.ASCII)

logger = logging.getLogger(__name__)


@require_POST
@login_not_required
@csrf_exempt  # Browsers send no token with it, and it changes nothing.
def report(request: HttpRequest) -> HttpResponse:
    if int(request.META.get("CONTENT_LENGTH") or 0) > MOST_BYTES:
        return _plain(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    if _is_too_often():
        response = _plain(HTTPStatus.TOO_MANY_REQUESTS)
        response["Retry-After"] = str(WINDOW_SECONDS)
        return response
    try:
        said = json.loads(request.body)["csp-report"]
        line = _line(said)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return _plain(HTTPStatus.BAD_REQUEST)
    logger.warning("The policy kept something from running: %s", line)
    return _plain(HTTPStatus.NO_CONTENT)


def _plain(status: HTTPStatus) -> HttpResponse:
    return HttpResponse(status=status, content_type="text/plain; charset=utf-8")


def _is_too_often() -> bool:
    now = asked.get()
    client = now.client if now else "unknown"
    counted = [
        counter.count(f"csp:{client}", limit=MOST_OF_A_CLIENT),
        counter.count("csp", limit=MOST_OF_ALL),
    ]
    return any(allowance and allowance.is_over for allowance in counted)


def _line(said: dict[str, Any]) -> str:
    """
    Return directive, what was blocked and on which page, nothing else.

    :raises AttributeError: if it is no report; so do other errors of a wrong type
    """
    directive = said.get("effective-directive") or said["violated-directive"]
    rule = directive.split(" ")[0]
    return (
        f"{rule if WORD.fullmatch(rule) else 'unknown'}"
        f" of {_origin(said.get('blocked-uri', ''))}"
        f" on {_page(said.get('document-uri', ''))}"
    )


def _origin(address: str) -> str:
    """
    Return the origin of an address, or the word that stands for none, like inline.
    """
    if WORD.fullmatch(address):
        return address
    parts = urlsplit(address)
    host = parts.hostname or ""
    is_known = WORD.fullmatch(parts.scheme) and HOST.fullmatch(host)
    return f"{parts.scheme}://{host}" if is_known else "unknown"


def _page(address: str) -> str:
    """
    Return the name of the page: its address may hold what logs somebody in.
    """
    path = urlsplit(address).path
    language = translation.get_language_from_path(path) or settings.LANGUAGE_CODE
    try:
        with translation.override(language):
            return resolve(path).view_name
    except Resolver404:
        return "unknown"
