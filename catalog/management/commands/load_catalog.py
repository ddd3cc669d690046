from typing import Any

from django.core.management.base import BaseCommand

import clock
from catalog.services import load_catalog


class Command(BaseCommand):
    help = "Add what the catalog's data files hold and the database lacks."

    def handle(self, *args: Any, **options: Any) -> None:
        """
        Load the catalog and say what was added.
        """
        added = load_catalog(at=clock.now())
        news = ", ".join(f"{count} {kind}" for kind, count in added.items() if count)
        self.stdout.write(f"Catalog: {f'added {news}' if news else 'nothing to add'}.")
