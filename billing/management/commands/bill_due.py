from typing import Any

from django.core.management.base import BaseCommand

import clock
from billing.services.tick import run_tick


class Command(BaseCommand):
    help = (
        "Bill what time alone makes due, and extend, expire and warn of what it ends."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        run = run_tick(at=clock.now())
        for failure in run.failures:
            self.stderr.write(f"Meter {failure.meter_id}: {failure.detail}")
        amounts = [
            f"{amount.amount} {currency}"
            for currency, amount in sorted(run.amount_by_currency.items())
        ]
        self.stdout.write(", ".join([f"{run.charges} charges", *amounts]))
