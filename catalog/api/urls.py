"""
The addresses of the API, without a language: its answers are the same for everybody.
"""

from typing import Any

from django.urls import URLPattern, path

from catalog.api.door import open_door
from catalog.api.v1 import answer_unknown, api

app_name = "api"

# What lists the whole market weighs as much as many calls.
CALLS = {"offers_csv": 10, "gpuhunt_csv": 10, "skypilot_csv": 10}
SCHEMA_SECONDS = 3600
MAX_AGES = {"openapi-json": SCHEMA_SECONDS}


def _opened(pattern: Any) -> URLPattern:
    name = pattern.name
    options = {
        key: value
        for key, value in {
            "calls": CALLS.get(name),
            "max_age": MAX_AGES.get(name),
        }.items()
        if value is not None
    }
    view = open_door(pattern.callback, **options)
    return URLPattern(pattern.pattern, view, pattern.default_args, name)


_described, _, _ = api.urls
urlpatterns = [
    *(_opened(pattern) for pattern in _described),
    path("<path:rest>", open_door(answer_unknown), name="unknown"),
]
