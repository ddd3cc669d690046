from typing import Any

from django.core.management.base import BaseCommand

import clock
from marketplace.stock_mails import send_stock_alerts


class Command(BaseCommand):
    help = "Tell people who asked for it that a GPU can be reserved again."

    def handle(self, *args: Any, **options: Any) -> None:
        """
        Queue the mails and say how many.
        """
        count = send_stock_alerts(at=clock.now())
        self.stdout.write(f"Stock alerts: {count}.")
