"""
How many calls one client may make in a minute, counted in the cache.

While the cache cannot be reached, calls are answered uncounted: prices that everybody
may read are worth more than the limit. It is then only asked again after a pause, so
that no call waits for a cache that hangs.
"""

import logging
import time
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address, ip_network

from allauth.account.adapter import get_adapter
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest
from redis.exceptions import RedisError

WINDOW_SECONDS = 60
PAUSE_SECONDS = 30
# Who is given an IPv6 address is given a whole network of this size.
IPV6_PREFIX = 64

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Allowance:
    """
    What a client may still do until the window ends; `left` is never below zero.
    """

    limit: int
    left: int
    resets_in: int
    is_over: bool


class Counter:
    """
    Counts calls by client and minute.
    """

    def __init__(self) -> None:
        self._paused_until = 0.0

    def count(self, request: HttpRequest, *, calls: int) -> Allowance | None:
        """
        Count a call that weighs as much as `calls`; None while nothing is counted.
        """
        if time.monotonic() < self._paused_until:
            return None
        now = int(time.time())
        window, second = divmod(now, WINDOW_SECONDS)
        key = f"api:{client_of(request)}:{window}"
        try:
            cache.add(key, 0, timeout=2 * WINDOW_SECONDS)
            used = cache.incr(key, calls)
        except RedisError:
            logger.exception("The calls of the API are not counted")
            self._paused_until = time.monotonic() + PAUSE_SECONDS
            return None
        limit = settings.API_CALLS_PER_MINUTE
        return Allowance(
            limit=limit,
            left=max(limit - used, 0),
            resets_in=WINDOW_SECONDS - second,
            is_over=used > limit,
        )


def client_of(request: HttpRequest) -> str:
    """
    Return who calls: an IPv4 address, or the network of an IPv6 address.
    """
    try:
        address = ip_address(get_adapter().get_client_ip(request))
    except (PermissionDenied, ValueError):
        # A server behind a socket of the file system knows no address.
        return "unknown"
    if isinstance(address, IPv6Address):
        return str(ip_network((address, IPV6_PREFIX), strict=False))
    return str(address)
