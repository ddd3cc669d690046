"""
A PostgreSQL of the benchmark's own, the same as the tests'.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

CHECKOUT = Path(__file__).parent.parent


@contextmanager
def running() -> Iterator[dict[str, str]]:
    """
    Run the servers for as long as the block lasts; yields the environment for them.
    """
    guardian = subprocess.Popen(
        [sys.executable, "-m", "tests.throwaway"],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert guardian.stdout is not None
    assert guardian.stdin is not None
    try:
        yield json.loads(guardian.stdout.readline())
    finally:
        guardian.stdin.close()
        guardian.wait(60)


def prepare_django() -> None:
    os.environ["DJANGO_SETTINGS_MODULE"] = "config.settings_test"
    import django  # noqa: PLC0415
    from django.core.management import call_command  # noqa: PLC0415

    django.setup()
    call_command("migrate", verbosity=0)
