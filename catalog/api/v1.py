"""
Version 1 of the public API, put together.
"""

import logging
from functools import cached_property
from http import HTTPStatus
from typing import Any

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext_noop as _
from ninja import NinjaAPI
from ninja.errors import ValidationError
from ninja.operation import Operation

from catalog.api import charges, estimates, hardware, history, offers, parts
from catalog.api.parameters import refuse_parameters
from catalog.api.problems import (
    MEDIA_TYPE,
    CannotAnswer,
    Problem,
    answer_problem,
    answer_refusal,
    answer_wrong_parameters,
)
from catalog.api.schemas import Index

DESCRIPTION = (
    "GPUs by the hour: what there is, what it costs, what fits. Read-only, without a"
    " log-in. Amounts are ex tax and text, times are UTC; a GB of a card's memory has"
    " 2^30 bytes."
)
# What any call may be refused with.
REFUSALS = {
    HTTPStatus.NOT_FOUND: _("What is asked about is not there"),
    HTTPStatus.METHOD_NOT_ALLOWED: _("Only GET, HEAD and OPTIONS are answered"),
    HTTPStatus.CONFLICT: _("What is asked for cannot be had together"),
    HTTPStatus.UNPROCESSABLE_ENTITY: _("A parameter is not understood"),
    HTTPStatus.TOO_MANY_REQUESTS: _("Too many calls within a minute"),
}

logger = logging.getLogger(__name__)


class PublicApi(NinjaAPI):
    """
    Adds to the description what `catalog.api.door` does for every operation.
    """

    def get_openapi_operation_id(self, operation: Operation) -> str:
        """
        Return a name for programs that are generated from the description.
        """
        return operation.view_func.__name__

    def get_openapi_schema(self, **options: Any) -> Any:
        """
        Return the description, with the refusals of every operation.
        """
        return self._described

    @cached_property
    def _described(self) -> Any:
        schema = super().get_openapi_schema()
        components = schema["components"]["schemas"]
        described = Problem.model_json_schema(
            ref_template="#/components/schemas/{model}"
        )
        components.update(described.pop("$defs"))
        components["Problem"] = described
        for operations in schema["paths"].values():
            for operation in operations.values():
                operation["responses"].update(_refusals())
        return schema


def _refusals() -> dict[int, Any]:
    content = {MEDIA_TYPE: {"schema": {"$ref": "#/components/schemas/Problem"}}}
    refusals: dict[int, Any] = {
        status.value: {"description": description, "content": content}
        for status, description in REFUSALS.items()
    }
    unchanged = {"description": "Not changed since the answer with this ETag"}
    return {HTTPStatus.NOT_MODIFIED.value: unchanged, **refusals}


api = PublicApi(
    title=settings.SITE_NAME,
    version="1",
    description=DESCRIPTION,
    urls_namespace="api",
    docs_url=None,
)
for module in (hardware, offers, history, estimates, charges):
    api.add_router("", module.router)
api.add_exception_handler(CannotAnswer, answer_refusal)
api.add_exception_handler(ValidationError, answer_wrong_parameters)


@api.exception_handler(Exception)
def answer_fault(_request: HttpRequest, error: Any) -> HttpResponse:
    logger.error("The API could not answer", exc_info=error)
    return answer_problem(
        HTTPStatus.INTERNAL_SERVER_ERROR,
        "Something went wrong here, not with your call. Try again in a minute.",
    )


@api.get("/", response=Index, url_name="index", summary=_("Where everything is"))
def get_index(request: HttpRequest) -> dict[str, Any]:
    refuse_parameters(request)
    names = (
        "gpus",
        "regions",
        "models",
        "offers",
        "estimate",
        "offers_csv",
        "gpuhunt_csv",
        "skypilot_csv",
    )
    return {
        "name": settings.SITE_NAME,
        "documentation_url": parts.absolute(reverse("catalog:api")),
        "openapi_url": parts.absolute(reverse("api:openapi-json")),
        **{f"{name}_url": parts.absolute(reverse(f"api:{name}")) for name in names},
    }


def answer_unknown(request: HttpRequest, rest: str) -> HttpResponse:
    return answer_problem(
        HTTPStatus.NOT_FOUND,
        f"There is nothing at {request.path}. GET /api/v1/ says where everything is.",
    )
