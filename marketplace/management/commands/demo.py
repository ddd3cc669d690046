from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

import clock
from billing.services.reconciliation import reconcile
from marketplace import demo
from marketplace.demo_logins import PASSWORD, RENTER, STAFF, SUPPLIER


class Command(BaseCommand):
    help = "Load the catalog, confirm its prices, and make the demo's accounts."

    def handle(self, *args: Any, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("This makes accounts with a known password: DEMO only.")
        demo.prepare(at=clock.now())
        # The books of the sandbox, too, are fetched every night only.
        reconcile(at=clock.now())
        self.stdout.write(f"Log in as {RENTER}, {SUPPLIER} or {STAFF}: {PASSWORD}")
