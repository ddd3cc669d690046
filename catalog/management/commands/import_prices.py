from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

import clock
from catalog import price_files, services, uploads
from catalog.price_plans import Outcome, PricePlan, plan_prices


class Command(BaseCommand):
    help = (
        "Show what a CSV file of prices would change; --apply saves all of it or none."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--apply", action="store_true", help="save the prices")

    def handle(self, *args: Any, **options: Any) -> None:
        """
        Say what becomes of the lines, and why those are refused that are.
        """
        at = clock.now()
        try:
            lines = price_files.read_lines(uploads.decode(options["file"].read_bytes()))
        except (OSError, uploads.FileRefused) as error:
            raise CommandError(str(error)) from error
        try:
            plan = (
                services.set_prices(lines=lines, actor=None, at=at)
                if options["apply"]
                else plan_prices(lines, at=at)
            )
        except services.PricesRefused as refusal:
            self._say(refusal.plan)
            raise CommandError(str(refusal)) from refusal
        self._say(plan)
        if plan.refused:
            raise CommandError("The file cannot be applied as it is.")

    def _say(self, plan: PricePlan) -> None:
        for row in plan.refused:
            self.stdout.write(f"line {row.line.number}: {row.refusal}")
        counts = (f"{plan.counts[outcome]} {outcome}" for outcome in Outcome)
        self.stdout.write(f"Prices: {', '.join(counts)}.")
