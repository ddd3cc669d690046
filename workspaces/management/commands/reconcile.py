from typing import Any

from django.core.management.base import BaseCommand

import clock
from workspaces import services


class Command(BaseCommand):
    help = "Compare what runs with what is billed, and list what differs."

    def handle(self, *args: Any, **options: Any) -> None:
        found = services.reconcile(at=clock.now())
        for finding in found:
            self.stdout.write(finding.detail)
        self.stdout.write(f"{len(found)} differences.")
