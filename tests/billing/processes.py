"""
Runs the money's verbs in processes and threads of their own, on the test's database.
"""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

from django.db import connection

CHECKOUT = Path(__file__).parent.parent.parent


def environment(**extra):
    # The settings read DATABASE_URL; the test's database has a name of its own.
    url = os.environ["DATABASE_URL"]
    name = connection.settings_dict["NAME"]
    head, _, query = url.partition("?")
    own = f"{head.rsplit('/', 1)[0]}/{name}" + (f"?{query}" if query else "")
    return {
        **os.environ,
        "DATABASE_URL": own,
        "DJANGO_SETTINGS_MODULE": "config.settings_test",
        **extra,
    }


def start(code, *, failpoints="", **values):
    """
    Start a Python process that runs `code` with `values` as its names.
    """
    script = (
        "import json, sys, django; django.setup()\n"
        "globals().update(json.loads(sys.argv[1]))\n" + code
    )
    return subprocess.Popen(
        [sys.executable, "-c", script, json.dumps(values)],
        cwd=CHECKOUT,
        env=environment(FAILPOINTS=failpoints),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def in_threads(*calls):
    """
    Run the calls at the same moment; return what each returned or raised.
    """
    barrier = threading.Barrier(len(calls))
    answers = [None] * len(calls)

    def run(number, call):
        try:
            barrier.wait(10)
            answers[number] = call()
        except Exception as error:
            answers[number] = error
        finally:
            connection.close()

    threads = [
        threading.Thread(target=run, args=[number, call])
        for number, call in enumerate(calls)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return answers
