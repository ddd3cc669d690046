import sys
from typing import Any

from django.core.management.base import BaseCommand

import clock
from billing.checks import check_providers
from billing.services.reconciliation import reconcile


class Command(BaseCommand):
    help = (
        "Compare the books with those of the payment providers; exits with 1 if they"
        " differ or a provider does not answer."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        problems = [
            *(f"{name} did not answer." for name in reconcile(at=clock.now())),
            *map(str, check_providers()),
        ]
        for problem in problems:
            self.stdout.write(problem)
        if problems:
            sys.exit(1)
        self.stdout.write("The providers' books say the same.")
