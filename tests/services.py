"""
The pytest plugin that starts the tests' own PostgreSQL and Valkey.

It runs before pytest-django reads the settings; the processes of xdist inherit what
it puts into the environment.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parent.parent


@pytest.hookimpl(tryfirst=True)
def pytest_load_initial_conftests(early_config: pytest.Config) -> None:
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    guardian = subprocess.Popen(
        [sys.executable, "-m", "tests.throwaway"],
        cwd=CHECKOUT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        # Ctrl-C is for pytest alone: the servers outlive the last test.
        start_new_session=True,
    )
    early_config.add_cleanup(lambda: dismiss(guardian))
    assert guardian.stdout is not None
    line = guardian.stdout.readline()
    if not line:
        raise pytest.UsageError("The tests' PostgreSQL and Valkey did not start.")
    os.environ.update(json.loads(line))


def dismiss(guardian: "subprocess.Popen[bytes]") -> None:
    assert guardian.stdin is not None
    guardian.stdin.close()
    guardian.wait(60)
