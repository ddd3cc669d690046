from typing import Any

from django.core.management.base import BaseCommand

from billing.services.profiles import load_vat_rates


class Command(BaseCommand):
    help = "Add the shipped VAT rates that are missing; staff's own stay as they are."

    def handle(self, *args: Any, **options: Any) -> None:
        self.stdout.write(f"{load_vat_rates()} VAT rates were added.")
