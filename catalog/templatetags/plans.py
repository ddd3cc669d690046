"""
What every row of a table of GPUs says, without a template each.
"""

from functools import lru_cache

from django import template
from django.urls import get_script_prefix, reverse
from django.utils.translation import get_language, gettext

import formats
from catalog.models import GpuModel
from catalog.planner import Row

register = template.Library()

REMEMBERED = 1000


@register.filter
def gpu_url(gpu: GpuModel) -> str:
    """
    Return the address of a GPU's page.
    """
    return _gpu_url(gpu.slug, get_language(), get_script_prefix())


@lru_cache(REMEMBERED)
def _gpu_url(slug: str, _language: str | None, _prefix: str) -> str:
    return reverse("catalog:gpu", args=[slug])


@register.filter
def room(row: Row) -> str:
    """
    Return the memory that a GPU has for a job, and of how much if ECC keeps some.
    """
    language = formats.language()
    if not row.gpu.has_inline_ecc:
        return formats.gigabytes(row.room_gb, language)
    return gettext("%(room)s of %(memory)s") % {
        "room": formats.number(row.room_gb, language),
        "memory": formats.gigabytes(row.gpu.memory_gb, language),
    }


@register.filter
def needed_of_room(row: Row, needed: str) -> str:
    """
    Say in words what the bar of a GPU draws.
    """
    return gettext("%(gpu)s: %(needed)s of %(room)s") % {
        "gpu": row.gpu.label,
        "needed": needed,
        "room": formats.gigabytes(row.room_gb, formats.language()),
    }
