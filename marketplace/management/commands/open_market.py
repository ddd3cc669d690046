from typing import Any

from django.core.management.base import BaseCommand

import clock
from marketplace import services


class Command(BaseCommand):
    help = "Open the market, queue every funded request and match the whole book."

    def handle(self, *args: Any, **options: Any) -> None:
        matches = services.open_market(actor=None, at=clock.now())
        self.stdout.write(f"The market is open. {len(matches)} requests matched.")
