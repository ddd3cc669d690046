"""
Mail leaves through the database: a row first, sent by a task, so none is lost.
"""

import re

from celery import current_app
from django.conf import settings
from django.core.mail import EmailMessage
from django.db import connection, transaction
from django.template.loader import render_to_string
from django.utils import translation
from post_office import mail

SENDING = 7_301
"""The advisory lock of the one process that sends."""


def letterhead() -> dict[str, str]:
    """
    Return what the layout of every mail needs.
    """
    return {"site_name": settings.SITE_NAME, "site_url": settings.SITE_URL}


def as_html(message: EmailMessage) -> str:
    """
    Return the layout around the paragraphs of a plain mail; links become buttons.
    """
    parts = re.split(r"\n\s*\n", str(message.body).strip())
    paragraphs = [
        {
            "text": part.strip(),
            "is_link": bool(re.fullmatch(r"\s*https?://\S+\s*", part)),
        }
        for part in parts
    ]
    context = {
        **letterhead(),
        "subject": message.subject,
        "paragraphs": paragraphs,
        "language": translation.get_language(),
    }
    return render_to_string("emails/layout.html", context)


def send_soon() -> None:
    """
    Wake the sender up when this transaction is committed.

    A broker that is down costs nothing but a few seconds: beat wakes the sender too.
    """
    transaction.on_commit(_wake_sender, robust=True)


def send_waiting() -> int:
    """
    Send the mails that wait and return how many left; one process sends at a time.
    """
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", [SENDING])
        if not cursor.fetchone()[0]:
            return 0
    try:
        if not mail.get_queued().exists():
            return 0
        sent, _failed, _requeued = mail.send_queued()
        return int(sent)
    finally:
        with connection.cursor() as cursor:
            cursor.execute("SELECT pg_advisory_unlock(%s)", [SENDING])


def _wake_sender() -> None:
    current_app.send_task("marketplace.tasks.send_mail", retry=False)
