from celery import shared_task

import clock
from workspaces import services


@shared_task
def provision_due() -> None:
    services.provision_due(at=clock.now())


@shared_task
def end_due() -> None:
    services.end_due(at=clock.now())
