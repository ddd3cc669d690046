"""
How pages of suppliers name what a line of money is about.
"""

from uuid import UUID

from django import template

from billing.services import PartyLine

register = template.Library()


@register.filter
def rental_code(line: PartyLine) -> str:
    """
    Return the short name of the rental, as its own page has it, if it is about one.
    """
    kind, name = line.subject
    return UUID(name).hex[:6].upper() if kind == "workspace" else ""
