from typing import Any

from django.core.management.base import BaseCommand

import clock
from workspaces import services


class Command(BaseCommand):
    help = "Set up what is matched and hand over what is ready."

    def handle(self, *args: Any, **options: Any) -> None:
        moved = services.provision_due(at=clock.now())
        self.stdout.write(f"{moved} workspaces moved on.")
