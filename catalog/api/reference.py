"""
The page for people who want to use the API: its description, set in our own look.

Everything on it that could go out of date is read from the description itself.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_safe

from catalog.api.parameters import MOST
from catalog.api.problems import ANCHORS
from catalog.api.urls import CALLS
from catalog.api.v1 import REFUSALS, api

KINDS = {
    "string": _("text"),
    "integer": _("whole number"),
    "boolean": _("yes or no"),
    "array": _("list"),
    "object": _("object"),
}
TIME = _("time")
# What a real call looks like where the defaults show too little.
OWN_MODEL = (
    "?hidden_size=4096&num_hidden_layers=32&num_attention_heads=32"
    "&num_key_value_heads=8&head_dim=128&intermediate_size=14336&vocab_size=128256"
    "&tie_word_embeddings=no&mlp=3&norm=rmsnorm&norms_per_layer=2"
)
QUERIES = {
    "/api/v1/estimate/own": OWN_MODEL,
    "/api/v1/offers": "?gpu=rtx-4090&limit=10",
    "/api/v1/estimate": "?model=meta-llama-3-1-8b&method=qlora&sequence_length=4096",
    "/api/v1/gpus/{slug}/cost": "?hours=120&storage_gb=200&kept_days=7",
    "/api/v1/gpus/{slug}/price-history": "?days=30",
}
EXAMPLE_GPU = "rtx-4090"


@dataclass(frozen=True, kw_only=True)
class Operation:
    """
    One address of the API, with its parameters and the fields of its answer.
    """

    path: str
    details: dict[str, Any]
    schemas: dict[str, Any]

    @property
    def summary(self) -> str:
        return gettext(self.details["summary"])

    @property
    def anchor(self) -> str:
        return str(self.details["operationId"]).replace("_", "-")

    @property
    def example(self) -> str:
        path = self.path.replace("{slug}", EXAMPLE_GPU)
        return f"{path}{QUERIES.get(self.path, '')}"

    @property
    def command(self) -> str:
        return f"curl '{settings.SITE_URL}{self.example}'"

    @cached_property
    def parameters(self) -> list[list[Any]]:
        """
        The rows of a table: name, what it may be, what is taken without it, meaning.
        """
        return [
            [
                _code(each["name"]),
                _kind_of_parameter(each["schema"]),
                _default(each),
                _about(each["schema"]),
            ]
            for each in sorted(self.details["parameters"], key=_is_in_query)
        ]

    @cached_property
    def fields(self) -> list[list[Any]]:
        """
        The rows of a table: name, kind, meaning; those of a file have no fields.
        """
        answer = self.details["responses"][200]["content"].get("application/json")
        return [*self._fields_of(answer["schema"], "")] if answer else []

    def _fields_of(self, schema: dict[str, Any], prefix: str) -> Iterator[list[Any]]:
        for name, field in self._resolved(schema).get("properties", {}).items():
            inner, can_be_empty = _without_null(field)
            path = f"{prefix}{name}"
            yield [
                _code(path),
                _kind(self._resolved(inner), can_be_empty),
                _about(field),
            ]
            if inner.get("type") == "array":
                yield from self._fields_of(inner["items"], f"{path}[].")
            else:
                yield from self._fields_of(inner, f"{path}.")

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        reference = schema.get("$ref", "")
        return self.schemas[reference.rpartition("/")[2]] if reference else schema


def _operations() -> list[Operation]:
    description = api.get_openapi_schema()
    schemas = description["components"]["schemas"]
    found = [
        Operation(path=path, details=methods["get"], schemas=schemas)
        for path, methods in description["paths"].items()
    ]
    return sorted(found, key=lambda operation: operation.path)


def _is_in_query(parameter: dict[str, Any]) -> bool:
    return bool(parameter["in"] == "query")


def _code(name: str) -> str:
    return format_html("<code>{}</code>", name)


def _about(schema: dict[str, Any]) -> str:
    text = schema.get("description", "")
    return gettext(text) if text else ""


def _without_null(schema: dict[str, Any]) -> tuple[dict[str, Any], bool]:
    options = schema.get("anyOf", [schema])
    kept = [option for option in options if option.get("type") != "null"]
    return kept[0], len(kept) < len(options)


def _kind(schema: dict[str, Any], can_be_empty: bool) -> str:
    is_time = schema.get("format") == "date-time"
    kind = str(TIME if is_time else KINDS[schema["type"]])
    return gettext("%(kind)s or null") % {"kind": kind} if can_be_empty else kind


def _kind_of_parameter(schema: dict[str, Any]) -> str:
    inner, _can_be_empty = _without_null(schema)
    if "enum" in inner:
        return ", ".join(inner["enum"])
    if inner["type"] == "integer":
        return f"{inner['minimum']} – {inner['maximum']}"
    return str(KINDS[inner["type"]])


def _default(parameter: dict[str, Any]) -> str:
    if parameter["required"]:
        return gettext("required")
    default = parameter["schema"].get("default")
    return "–" if default is None else str(default)


@require_safe
@login_not_required
def api_reference(request: HttpRequest) -> HttpResponse:
    context = {
        "operations": _operations(),
        "base": f"{settings.SITE_URL}/api/v1/",
        "calls_per_minute": settings.API_CALLS_PER_MINUTE,
        "calls_of_a_file": max(CALLS.values()),
        "most": MOST,
        "problems": [
            (status.value, ANCHORS[status], gettext(text))
            for status, text in REFUSALS.items()
        ],
    }
    return render(request, "catalog/api.html", context)
