"""
Writes structured data into a page, so that no text in it can end the element.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from catalog.asks import Ask
from catalog.models import GpuModel
from catalog.structured import describe_gpu

register = template.Library()

# As Django's json_script does: within JSON these are the same characters.
ESCAPES = {ord(">"): "\\u003E", ord("<"): "\\u003C", ord("&"): "\\u0026"}


@register.simple_tag
def json_ld(data: Mapping[str, Any]) -> SafeString:
    """
    Show data as a block of JSON-LD. Browsers do not execute it, the policy allows it.
    """
    text = json.dumps(data, ensure_ascii=False).translate(ESCAPES)
    return format_html(
        '<script type="application/ld+json">{}</script>',
        mark_safe(text),  # noqa: S308 - escaped above
    )


@register.simple_tag
def json_ld_of_gpu(gpu: GpuModel, asks: Iterable[Ask]) -> SafeString:
    """
    Show what a GPU is and what it is offered for, as a block of JSON-LD.
    """
    return json_ld(describe_gpu(gpu, asks))
