import subprocess
import sys
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

NAMES = ("tick", "catalog", "matching")


class Command(BaseCommand):
    help = (
        "Measure what has a bar, on a PostgreSQL of its own: all of it, or what is"
        " named. `python -m bench.<name> --help` lists what one of them takes."
    )
    # Nothing here asks the database that the settings name.
    requires_system_checks = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("names", nargs="*", help=", ".join(NAMES))

    def handle(self, *args: Any, **options: Any) -> None:
        for name in options["names"]:
            if name not in NAMES:
                raise CommandError(
                    f"{name} measures nothing: name some of {', '.join(NAMES)}."
                )
        for name in options["names"] or NAMES:
            _run(name)


def _run(name: str) -> None:
    command = [sys.executable, "-m", f"bench.{name}"]
    done = subprocess.run(command, cwd=settings.BASE_DIR, check=False)  # noqa: S603
    if done.returncode:
        raise CommandError(f"bench.{name} failed.", returncode=done.returncode)
