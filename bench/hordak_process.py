"""
Posts charges with django-hordak 2.0, as its documentation does, and says how long.

A charge is what a tick posts for it: from one of many held accounts to a supplier's
and to the house's. Meters, charges and holds, which a tick also writes, it has not.
"""

import json
import os
import sys
import time

import django
import psycopg
from django.conf import settings

NAME = "hordak"


def set_up() -> None:
    server = json.loads(os.environ["HORDAK_SERVER"])
    with psycopg.connect(**server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {NAME}")
    settings.configure(
        DATABASES={
            "default": {
                "ENGINE": "django.db.backends.postgresql",
                "NAME": NAME,
                "HOST": server["host"],
                "PORT": server["port"],
                "USER": server["user"],
                "PASSWORD": server["password"],
            }
        },
        INSTALLED_APPS=[
            "django.contrib.contenttypes",
            "django.contrib.auth",
            "mptt",
            "hordak",
        ],
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        DEFAULT_CURRENCY="USD",
        CURRENCIES=["USD"],
        USE_TZ=True,
    )
    django.setup()


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def main() -> None:
    set_up()
    from django.core.management import call_command  # noqa: PLC0415

    call_command("migrate", verbosity=0)
    from bench.hordak_postings import Postings  # noqa: PLC0415

    postings = Postings(int(sys.argv[1]))
    say("ready")
    for line in sys.stdin:
        way, charges = line.split()
        start = time.perf_counter()
        getattr(postings, way)(int(charges))
        say(str(time.perf_counter() - start))


if __name__ == "__main__":
    main()
