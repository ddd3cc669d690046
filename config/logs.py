"""
The log: one JSON object a line, in UTC, with the request or task that it belongs to.

A line break that somebody typed is escaped by JSON, so nobody can forge a line; what
looks like a secret is masked, whoever put it into a message.
"""

import json
import logging
import re
from contextvars import ContextVar
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from celery import current_task
from django.http import HttpRequest

MASK = "[masked]"
# Keys of payment providers, session cookies, and the links of mails that log in.
SECRETS = re.compile(
    r"\b(?:sk|rk|whsec)_\w{6,}"
    r"|(?<=session=)\w+"
    r"|(?<=/reset/key/)[^\s/\"]+"
    r"|(?<=/confirm-email/)[^\s/\"]+"
)


@dataclass(frozen=True)
class Asked:
    """
    A request with its number, and the address of the client that it came from.
    """

    number: str
    client: str
    request: HttpRequest


asked: ContextVar[Asked | None] = ContextVar("asked", default=None)


class LineFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, Any] = {
            "at": datetime.fromtimestamp(record.created, tz=UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": masked(record.getMessage()),
            **_origin(),
        }
        if record.exc_info:
            line["error"] = masked(self.formatException(record.exc_info))
        return json.dumps(line)


def _origin() -> dict[str, Any]:
    if current_task:
        return {"task": current_task.name, "task_id": current_task.request.id}
    now = asked.get()
    if now is None:
        return {}
    # Only who is known already: the log asks the database nothing.
    user = getattr(now.request, "_cached_user", None)
    return {
        "request": now.number,
        "client": now.client,
        "user": user.pk if user else None,
    }


def masked(text: str) -> str:
    return SECRETS.sub(MASK, text)
