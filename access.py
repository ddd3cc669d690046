"""
Who may open a page at all: everybody else is answered as if it did not exist.
"""

import logging
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.conf import settings
from django.http import Http404, HttpRequest
from django.http.response import HttpResponseBase

View = Callable[..., HttpResponseBase]

logger = logging.getLogger(__name__)


def staff_only(view: View) -> View:
    """
    Keep a page for staff: a 404 does not tell others that there is one.
    """
    return _only(lambda request: request.user.is_active and request.user.is_staff, view)


def demo_only(view: View) -> View:
    """
    Keep a page for the demo.
    """
    return _only(lambda _request: settings.DEMO, view)


def _only(may_open: Callable[[HttpRequest], bool], view: View) -> View:
    @wraps(view)
    def guarded(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
        if not may_open(request):
            logger.warning("Kept out of %s", request.path)
            raise Http404
        return view(request, **kwargs)

    return guarded
