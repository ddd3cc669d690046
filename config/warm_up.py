"""
Loads what a web process would else load while its first visitors wait.
"""

import gc
from datetime import UTC
from importlib import import_module
from pathlib import Path

from django.conf import settings
from django.template.loader import get_template
from django.utils.translation import override

import clock
import formats


def warm_up() -> None:
    """
    Import all views, compile all templates, read all languages, and freeze them.

    The garbage collector would walk over all of it during requests, for tens of
    milliseconds at a time; processes that are forked from this one share it.
    """
    import_module(settings.ROOT_URLCONF)
    folder = Path(settings.BASE_DIR / "templates")
    for path in folder.rglob("*.html"):
        get_template(str(path.relative_to(folder)))
    for language, _name in settings.LANGUAGES:
        with override(language):
            formats.date_time(clock.now(), language, UTC)
    gc.collect()
    gc.freeze()
