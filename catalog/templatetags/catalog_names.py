"""
Names that stand in the catalog's data, as filters; `catalog.names` has them.
"""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.html import format_html
from django.utils.safestring import SafeString, mark_safe

from catalog import names
from catalog.models import GpuModel

register = template.Library()
register.filter(names.region_name)
register.filter(names.region_city)
register.filter(names.plan_name)
register.filter(names.plan_description)


@register.filter
def gpu_note(gpu: GpuModel) -> SafeString:
    """
    Show the note of a GPU, marked as English where it has no translation.
    """
    text = names.gpu_note(gpu)
    mark = mark_safe(' lang="en"') if text == gpu.note else ""
    return format_html("<span{}>{}</span>", mark, text)


@register.filter
def named(known: Mapping[str, Any], slug: str) -> Any:
    """
    Return the name of a slug, the slug itself where it has none.
    """
    return known.get(slug, slug)
