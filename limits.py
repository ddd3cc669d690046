"""
How often somebody may do something in a minute, counted in the cache.

While the cache cannot be reached nothing is counted: a limit that only keeps programs
from asking too much is worth less than the page. The cache is then asked again after a
pause, so that nobody waits for one that hangs.
"""

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import Any

from allauth.core.ratelimit import respond_429
from django.core.cache import cache
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from redis.exceptions import RedisError

WINDOW_SECONDS = 60
PAUSE_SECONDS = 30

View = Callable[..., HttpResponseBase]

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Allowance:
    """
    What somebody may still do until the window ends; `left` is never below zero.
    """

    limit: int
    left: int
    resets_in: int
    is_over: bool


class Counter:
    """
    Counts what is done, by who does it and minute.
    """

    def __init__(self) -> None:
        self._paused_until = 0.0

    def count(self, who: str, *, limit: int, calls: int = 1) -> Allowance | None:
        """
        Count what weighs as much as `calls`; None while nothing is counted.
        """
        if time.monotonic() < self._paused_until:
            return None
        window, second = divmod(int(time.time()), WINDOW_SECONDS)
        key = f"{who}:{window}"
        try:
            cache.add(key, 0, timeout=2 * WINDOW_SECONDS)
            used = cache.incr(key, calls)
        except RedisError:
            logger.exception("Calls are not counted")
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            return None
        return Allowance(
            limit=limit,
            left=max(limit - used, 0),
            resets_in=WINDOW_SECONDS - second,
            is_over=used > limit,
        )


counter = Counter()


def limited(*, a_minute: int) -> Callable[[View], View]:
    """
    Let one person open a page this often in a minute, and send its form as often.
    """

    def limit(view: View) -> View:
        @wraps(view)
        def counted(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
            method = "GET" if request.method == "HEAD" else request.method
            who = f"{view.__module__}.{view.__name__}:{method}:{request.user.pk}"
            allowance = counter.count(who, limit=a_minute)
            if allowance is None or not allowance.is_over:
                return view(request, **kwargs)
            response: HttpResponseBase = respond_429(request)
            response["Retry-After"] = str(allowance.resets_in)
            return response

        return counted

    return limit
