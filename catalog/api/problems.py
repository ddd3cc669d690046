"""
What the API answers when it cannot answer: problem details, as RFC 9457 has them.
"""

from collections.abc import Iterable
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from ninja import Field, Schema
from ninja.errors import ValidationError

MEDIA_TYPE = "application/problem+json"
# What follows the # in the address of a problem's type, by status.
ANCHORS = {
    HTTPStatus.NOT_FOUND: "not-found",
    HTTPStatus.METHOD_NOT_ALLOWED: "method-not-allowed",
    HTTPStatus.CONFLICT: "conflict",
    HTTPStatus.UNPROCESSABLE_ENTITY: "wrong-parameter",
    HTTPStatus.TOO_MANY_REQUESTS: "too-many-calls",
    HTTPStatus.INTERNAL_SERVER_ERROR: "our-fault",
}


class ParameterProblem(Schema):
    """
    What is wrong with one parameter.
    """

    parameter: str
    detail: str


class Problem(Schema):
    """
    Why a call was not answered and what to do about it (RFC 9457).
    """

    type: str = Field(description="An address that explains this kind of problem.")
    title: str = Field(description="The kind of problem in a few words.")
    status: int = Field(description="The HTTP status.")
    detail: str = Field(description="What is wrong, and what to do.")
    errors: list[ParameterProblem] = Field(
        default=[], description="What is wrong with which parameter."
    )


class CannotAnswer(Exception):
    """
    A call that is refused with a status and a sentence that says what to do.
    """

    def __init__(self, status: HTTPStatus, detail: str) -> None:
        super().__init__(detail)
        self.status = status


def answer_problem(
    status: HTTPStatus, detail: str, errors: Iterable[dict[str, str]] = ()
) -> HttpResponse:
    content = {
        "type": f"{settings.SITE_URL}/api/#{ANCHORS[status]}",
        "title": status.phrase,
        "status": status.value,
        "detail": detail,
        "errors": [*errors],
    }
    return JsonResponse(content, status=status, content_type=MEDIA_TYPE)


def answer_refusal(_request: HttpRequest, error: Any) -> HttpResponse:
    return answer_problem(error.status, str(error))


def answer_wrong_parameters(
    _request: HttpRequest, error: ValidationError | Any
) -> HttpResponse:
    """
    Answer with every parameter that was not understood.
    """
    errors = [_parameter_problem(found) for found in error.errors]
    named = "; ".join(f"{found['parameter']}: {found['detail']}" for found in errors)
    return answer_problem(
        HTTPStatus.UNPROCESSABLE_ENTITY,
        f"{named}. All parameters are described at {settings.SITE_URL}/api/.",
        errors,
    )


def _parameter_problem(found: dict[str, Any]) -> dict[str, str]:
    context = found.get("ctx", {})
    # A rule of ours names the parameter itself; pydantic names the place of the value.
    name = context.get("parameter") or str(found["loc"][-1])
    return {"parameter": str(name), "detail": str(found["msg"]).rstrip(".")}
