from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from requests import RequestException

from billing.services.rates import RatesDiffer, fetch_rates, load_rates


class Command(BaseCommand):
    help = "Store exchange rates from the European Central Bank, or from its CSV file."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", nargs="?", type=Path)

    def handle(self, *args: Any, file: Path | None = None, **options: Any) -> None:
        try:
            if file is None:
                new = fetch_rates()
            else:
                new = load_rates(lines=file.read_text(encoding="utf-8").splitlines())
        except (OSError, RequestException, RatesDiffer, ValueError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{new} new days of exchange rates")
