"""
How a page does what its button says: by a service, which may refuse with a sentence.
"""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest

import clock
from workspaces import services


def act(
    request: HttpRequest, verb: Callable[..., Any], *, done: str, **told: Any
) -> None:
    """
    Do it now as whoever is logged in, and say that it is done or why it cannot be.
    """
    try:
        verb(actor=request.user, at=clock.now(), **told)
    except (
        services.CannotExtend,
        services.IllegalMove,
        services.NothingToKeep,
    ) as error:
        messages.error(request, str(error))
    else:
        messages.success(request, done)
