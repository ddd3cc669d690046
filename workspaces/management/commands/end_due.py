from typing import Any

from django.core.management.base import BaseCommand

import clock
from workspaces import services


class Command(BaseCommand):
    help = "Stop, delete or expire every workspace whose time is over."

    def handle(self, *args: Any, **options: Any) -> None:
        ended = services.end_due(at=clock.now())
        self.stdout.write(f"{ended} workspaces ended.")
