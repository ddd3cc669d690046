from typing import Any

from django.conf import settings
from django.http import HttpRequest


def site(request: HttpRequest) -> dict[str, Any]:
    """
    Return what every page needs to know of the site.
    """
    return {"SITE_NAME": settings.SITE_NAME, "DEMO": settings.DEMO}
