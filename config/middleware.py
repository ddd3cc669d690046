from collections.abc import Callable
from uuid import uuid4

from allauth.account.adapter import get_adapter
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

from config.logs import Asked, asked

Answer = Callable[[HttpRequest], HttpResponse]


class NumberedRequestsMiddleware:
    """
    Give each request a number that its log lines and its answer carry.

    A number that a client sends is ignored: it could be that of somebody else.
    """

    def __init__(self, get_response: Answer) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        number = uuid4().hex
        token = asked.set(Asked(number, _client_of(request), request))
        try:
            response = self.get_response(request)
        finally:
            asked.reset(token)
        response["X-Request-ID"] = number
        return response


def _client_of(request: HttpRequest) -> str:
    try:
        return str(get_adapter().get_client_ip(request))
    except PermissionDenied:
        # A server behind a socket of the file system knows no address.
        return "unknown"
