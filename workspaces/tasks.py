import logging

from celery import shared_task

import clock
from workspaces import services

logger = logging.getLogger(__name__)


@shared_task
def provision_due() -> None:
    services.provision_due(at=clock.now())


@shared_task
def end_due() -> None:
    """
    Stop what a dispute stops, then end what is over.
    """
    at = clock.now()
    services.stop_disputed(at=at)
    services.end_due(at=at)


@shared_task
def send_reminders() -> None:
    """
    Write the mails that are due, and switch off what runs for too long.
    """
    at = clock.now()
    services.end_automatic_extension(at=at)
    services.send_reminders(at=at)


@shared_task
def reconcile() -> None:
    """
    Tell the log, and staff, of what is billed but not there, or there but not billed.
    """
    for finding in services.reconcile(at=clock.now()):
        logger.error("Workspaces: %s", finding.detail)
