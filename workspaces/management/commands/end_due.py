from typing import Any

from django.core.management.base import BaseCommand

import clock
from workspaces import services


class Command(BaseCommand):
    help = (
        "Stop, delete or expire workspaces that are over, or whose payment is disputed."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        at = clock.now()
        ended = services.stop_disputed(at=at) + services.end_due(at=at)
        self.stdout.write(f"{ended} workspaces ended.")
