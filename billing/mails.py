"""
Mails about money: rows of the outbox, written in the transaction that they tell of.
"""

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.conf import settings
from django.core.exceptions import ValidationError
from django.template.loader import render_to_string
from django.utils import translation
from post_office import mail

logger = logging.getLogger(__name__)


def address_of(path: Callable[[], str], *, language: str) -> str:
    """
    Return the whole address of a page in the language of who is written to.
    """
    with translation.override(language):
        return f"{settings.SITE_URL}{path()}"


@dataclass(frozen=True, kw_only=True)
class Written:
    """
    A mail as it is read: its subject, its text and the same as HTML.
    """

    subject: str
    text: str
    html: str


def queue_mail(
    name: str,
    *,
    to: str,
    language: str,
    headers: dict[str, str] | None = None,
    **context: Any,
) -> None:
    """
    Put a mail into the outbox; `name` is that of its templates in `emails/`.
    """
    written = _write(name, language=language, context=context)
    try:
        mail.send(
            to,
            settings.DEFAULT_FROM_EMAIL,
            subject=written.subject,
            message=written.text,
            html_message=written.html,
            language=language,
            headers=headers,
        )
    except ValidationError:
        # Money is not turned away because of an address that mail cannot go to.
        logger.exception("Could not queue a mail")


def _write(name: str, *, language: str, context: dict[str, Any]) -> Written:
    """
    Write the text once, in plain paragraphs, and the same in the layout of all mails.
    """
    everything = {
        "site_name": settings.SITE_NAME,
        "site_url": settings.SITE_URL,
        "language": language,
        **context,
    }
    with translation.override(language):
        text = render_to_string(f"emails/{name}.txt", everything).strip() + "\n"
        # A line break in a subject would start another header.
        subject = " ".join(
            render_to_string(f"emails/{name}.subject.txt", everything).split()
        )
        paragraphs = [
            {"text": part, "is_link": bool(re.fullmatch(r"https?://\S+", part))}
            for part in re.split(r"\n\s*\n", text.strip())
        ]
        html = render_to_string(
            "emails/layout.html",
            {**everything, "subject": subject, "paragraphs": paragraphs},
        )
    return Written(subject=subject, text=text, html=html)
