"""
Names and notes that stand in the catalog's data, in the reader's language.

The database has them in English, as `catalog/data` does. What is listed here is known
to the translators; what staff enter besides is shown as they wrote it.
"""

from django.utils.translation import gettext, gettext_noop

from catalog.asks import Place
from catalog.models import Region, StoragePlan

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


def region_name(region: Region | Place) -> str:
    return f"{gettext(region.name)} · {gettext(region.city)}"


def region_city(region: Region | Place) -> str:
    return gettext(region.city)


def plan_name(plan: StoragePlan) -> str:
    return gettext(plan.name)


def plan_description(plan: StoragePlan) -> str:
    return gettext(plan.description)
