from celery import shared_task
from django.db import transaction

import clock
from marketplace import outbox, services


@shared_task
def match_market(*, gpu_id: int | None = None) -> None:
    services.match_market(at=clock.now(), gpu_id=gpu_id)


@shared_task
def send_mail() -> None:
    outbox.send_waiting()


def match_soon() -> None:
    """
    Match the market when this transaction is committed; beat does so too, later.
    """
    transaction.on_commit(lambda: match_market.apply_async(retry=False), robust=True)
