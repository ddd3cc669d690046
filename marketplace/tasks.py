import logging

from celery import shared_task
from django.db import transaction

import clock
from marketplace import outbox, services, stock_mails
from marketplace.suppliers import starts

logger = logging.getLogger(__name__)


@shared_task
def open_when_due() -> None:
    """
    Open the market at its planned time and match it at once.
    """
    if services.open_when_due(at=clock.now()):
        services.match_market(at=clock.now())


@shared_task
def send_opening_mails() -> None:
    services.send_opening_mails(at=clock.now())


@shared_task
def replay_matches() -> None:
    """
    Tell the log, and whoever watches it, of every match that is not the rule's.
    """
    for difference in services.replay_matches(at=clock.now()).differences:
        logger.critical("Matches: %s", difference)


@shared_task
def match_market(*, gpu_id: int | None = None) -> None:
    services.match_market(at=clock.now(), gpu_id=gpu_id)


@shared_task
def send_mail() -> None:
    outbox.send_waiting()


@shared_task
def send_stock_alerts() -> None:
    stock_mails.send_stock_alerts(at=clock.now())


@shared_task
def send_start_notices() -> None:
    starts.send_start_notices(at=clock.now())


def match_soon() -> None:
    """
    Match the market when this transaction is committed; beat does so too, later.
    """
    transaction.on_commit(lambda: match_market.apply_async(retry=False), robust=True)
