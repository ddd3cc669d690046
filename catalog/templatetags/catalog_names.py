"""
Names that stand in the catalog's data, in the reader's language where it has one.
"""

from collections.abc import Mapping
from typing import Any

from django import template
from django.utils.translation import gettext, gettext_noop

from catalog.asks import Place
from catalog.models import Region, StoragePlan

register = template.Library()

# The names of catalog/data, so that translators find them.
KNOWN = (
    gettext_noop("EU West"),
    gettext_noop("EU Central"),
    gettext_noop("Paris"),
    gettext_noop("Frankfurt"),
    gettext_noop("Persistent (demo)"),
    gettext_noop("Ephemeral (demo)"),
    gettext_noop(
        "Network storage that outlives the workspace: checkpoints and data stay for"
        " the days that you pay for."
    ),
    gettext_noop(
        "Fast local disk for caches and data sets that can be loaded again: it is"
        " deleted when the workspace ends."
    ),
)


@register.filter
def named(names: Mapping[str, Any], slug: str) -> Any:
    """
    Return the name of a slug, the slug itself where it has none.
    """
    return names.get(slug, slug)


@register.filter
def region_name(region: Region | Place) -> str:
    return f"{gettext(region.name)} · {gettext(region.city)}"


@register.filter
def region_city(region: Region | Place) -> str:
    return gettext(region.city)


@register.filter
def plan_name(plan: StoragePlan) -> str:
    return gettext(plan.name)


@register.filter
def plan_description(plan: StoragePlan) -> str:
    return gettext(plan.description)
