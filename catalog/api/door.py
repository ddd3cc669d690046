"""
What holds for every answer of the API: methods, limit, caching, other sites' scripts.
"""

import hashlib
from collections.abc import Callable
from functools import wraps
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response, patch_cache_control
from django.utils.http import quote_etag
from django.views.decorators.csrf import csrf_exempt

from catalog.api.clients import client_of
from catalog.api.problems import answer_problem
from limits import WINDOW_SECONDS, Allowance, Counter

View = Callable[..., HttpResponseBase]

METHODS = "GET, HEAD, OPTIONS"
# Prices are confirmed by the day; a minute spares most repeated calls.
LIVE_SECONDS = 60
SHOWN_TO_SCRIPTS = "ETag, Retry-After, RateLimit, RateLimit-Policy"
PREFLIGHT_SECONDS = 86_400

counter = Counter()


def open_door(view: View, *, max_age: int = LIVE_SECONDS, calls: int = 1) -> View:
    """
    Let everybody read what a view answers, and nobody too much of it.

    It needs no log-in and no token against forged forms, as it changes nothing. An
    answer may be kept for `max_age` seconds and weighs as much as `calls`.
    """

    @csrf_exempt
    @login_not_required
    @wraps(view)
    def opened(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        response = _answer(request, view, kwargs, max_age=max_age, calls=calls)
        # Search engines are sent to the pages.
        response["X-Robots-Tag"] = "noindex"
        response["Access-Control-Allow-Origin"] = "*"
        response["Access-Control-Expose-Headers"] = SHOWN_TO_SCRIPTS
        return response

    return opened


def _answer(
    request: HttpRequest, view: View, kwargs: Any, *, max_age: int, calls: int
) -> HttpResponseBase:
    if request.method == "OPTIONS":
        return _options()
    if request.method not in {"GET", "HEAD"}:
        return _not_allowed(request)
    allowance = counter.count(
        f"api:{client_of(request)}", limit=settings.API_CALLS_PER_MINUTE, calls=calls
    )
    if allowance is not None and allowance.is_over:
        response: HttpResponseBase = _too_many(allowance)
    else:
        response = _cacheable(request, _get(request, view, kwargs), max_age=max_age)
    if allowance is not None:
        _tell(response, allowance)
    return response


def _get(request: HttpRequest, view: View, kwargs: Any) -> HttpResponseBase:
    """
    Answer HEAD as GET is answered: the server leaves the body away.
    """
    method, request.method = request.method, "GET"
    response = view(request, **kwargs)
    request.method = method
    return response


def _cacheable(
    request: HttpRequest, response: Any, *, max_age: int
) -> HttpResponseBase:
    if response.status_code != HTTPStatus.OK:
        patch_cache_control(response, no_store=True)
        return response  # type: ignore[no-any-return]
    etag = quote_etag(hashlib.sha256(response.content).hexdigest()[:32])
    response["ETag"] = etag
    patch_cache_control(response, public=True, max_age=max_age)
    answer: Any = get_conditional_response(request, etag=etag, response=response)
    return answer  # type: ignore[no-any-return]


def _options() -> HttpResponse:
    response = HttpResponse(status=HTTPStatus.NO_CONTENT)
    response["Allow"] = METHODS
    response["Access-Control-Allow-Methods"] = METHODS
    response["Access-Control-Allow-Headers"] = "If-None-Match"
    response["Access-Control-Max-Age"] = str(PREFLIGHT_SECONDS)
    return response


def _not_allowed(request: HttpRequest) -> HttpResponse:
    response = answer_problem(
        HTTPStatus.METHOD_NOT_ALLOWED,
        f"Nothing can be changed here: use GET instead of {request.method}.",
    )
    response["Allow"] = METHODS
    return response


def _too_many(allowance: Allowance) -> HttpResponse:
    response = answer_problem(
        HTTPStatus.TOO_MANY_REQUESTS,
        f"More than {allowance.limit} calls came from your address within a minute."
        f" Wait {allowance.resets_in} seconds, keep answers for as long as their"
        " Cache-Control says, and take the CSV files instead of many pages.",
    )
    response["Retry-After"] = str(allowance.resets_in)
    patch_cache_control(response, no_store=True)
    return response


def _tell(response: HttpResponseBase, allowance: Allowance) -> None:
    response["RateLimit-Policy"] = f'"minute";q={allowance.limit};w={WINDOW_SECONDS}'
    response["RateLimit"] = f'"minute";r={allowance.left};t={allowance.resets_in}'
