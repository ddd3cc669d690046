from typing import Any

from django.core.management.base import BaseCommand

import clock
from marketplace import services


class Command(BaseCommand):
    help = "Match waiting requests to offers, if the market is open."

    def handle(self, *args: Any, **options: Any) -> None:
        matches = services.match_market(at=clock.now())
        self.stdout.write(f"{len(matches)} requests matched.")
