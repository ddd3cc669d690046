from celery import shared_task
from django.db import transaction

import clock
from marketplace import outbox, services, stock_mails


@shared_task
def match_market(*, gpu_id: int | None = None) -> None:
    services.match_market(at=clock.now(), gpu_id=gpu_id)


@shared_task
def send_mail() -> None:
    outbox.send_waiting()


@shared_task
def send_stock_alerts() -> None:
    stock_mails.send_stock_alerts(at=clock.now())


def match_soon() -> None:
    """
    Match the market when this transaction is committed; beat does so too, later.
    """
    transaction.on_commit(lambda: match_market.apply_async(retry=False), robust=True)
