from typing import Any

from django.core.management.base import BaseCommand

import clock
from billing.services import bill_due


class Command(BaseCommand):
    help = "Bill every running meter up to the last full UTC hour."

    def handle(self, *args: Any, **options: Any) -> None:
        run = bill_due(at=clock.now())
        for failure in run.failures:
            self.stderr.write(f"Meter {failure.meter_id}: {failure.detail}")
        amounts = [
            f"{amount.amount} {currency}"
            for currency, amount in sorted(run.amount_by_currency.items())
        ]
        self.stdout.write(", ".join([f"{run.charges} charges", *amounts]))
