"""
Names that stand in the catalog's data, as filters; `catalog.names` has them.
"""

from collections.abc import Mapping
from typing import Any

from django import template

from catalog import names

register = template.Library()
register.filter(names.region_name)
register.filter(names.region_city)
register.filter(names.plan_name)
register.filter(names.plan_description)


@register.filter
def named(known: Mapping[str, Any], slug: str) -> Any:
    """
    Return the name of a slug, the slug itself where it has none.
    """
    return known.get(slug, slug)
