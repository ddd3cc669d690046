import sys
from typing import Any

from django.core.management.base import BaseCommand

from billing.services import check_books


class Command(BaseCommand):
    help = "Check every rule of the books; exits with 1 if one is broken."

    def handle(self, *args: Any, **options: Any) -> None:
        faults = check_books()
        for fault in faults:
            self.stdout.write(str(fault))
        if faults:
            sys.exit(1)
        self.stdout.write("The books are right.")
