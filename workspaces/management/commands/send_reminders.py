from typing import Any

from django.core.management.base import BaseCommand

import clock
from workspaces import services


class Command(BaseCommand):
    help = "Write the mails about workspaces that are due."

    def handle(self, *args: Any, **options: Any) -> None:
        sent = services.send_reminders(at=clock.now())
        self.stdout.write(f"{sent} mails.")
