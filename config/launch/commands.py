"""
Runs the management commands that come in, one a line, all in one process: to start
Django takes longer than most of them.
"""

import json
import os
import sys

import django
from django.core.management import call_command


def main() -> None:
    """
    Run each command and report a byte on what was the standard output.
    """
    report = os.dup(sys.stdout.fileno())
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    django.setup()
    for line in sys.stdin:
        call_command(*json.loads(line))
        os.write(report, b".")


if __name__ == "__main__":
    main()
