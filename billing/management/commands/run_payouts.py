from typing import Any

from django.core.management.base import BaseCommand

import clock
from billing.services.payouts import run_payouts


class Command(BaseCommand):
    help = "Pay out what suppliers earned, once a week for each of them."

    def handle(self, *args: Any, **options: Any) -> None:
        for payout in run_payouts(at=clock.now()):
            self.stdout.write(
                f"{payout.pk}: {payout.amount.amount} {payout.currency} {payout.holder}"
            )
