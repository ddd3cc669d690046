import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.cache import cache
from django.db import connection

from config.celery import app
from config.embedded import CHECKOUT
from config.launch import processes


@pytest.mark.django_db
def test_tests_run_on_postgresql_18_as_an_ordinary_role():
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
        (version,) = cursor.fetchone()
        cursor.execute("SELECT rolsuper FROM pg_roles WHERE rolname = current_user")
        (is_superuser,) = cursor.fetchone()

    assert version == 18
    assert is_superuser is False


def test_tests_run_on_their_own_valkey():
    cache.set("color", "red")

    assert cache.get("color") == "red"
    assert os.environ["COREHOUR_HOME"] in os.environ["REDIS_URL"]


def test_celery_reaches_the_same_valkey():
    with app.connection_for_write() as broker:
        broker.ensure_connection(max_retries=1)

        assert broker.connected


def test_services_end_when_the_test_run_is_killed():
    code = (
        "import subprocess, sys\n"
        "command = [sys.executable, '-m', 'tests.throwaway']\n"
        "subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True).wait()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", code], cwd=CHECKOUT, stdout=subprocess.PIPE
    ) as run:
        place = Path(json.loads(run.stdout.readline())["COREHOUR_HOME"])
        server = int((place / "postgres" / "postmaster.pid").read_text().split()[0])
        run.kill()
        # The guardian has the other end of this pipe and closes it last.
        run.stdout.read()

    assert not place.exists()
    assert processes.birth(server) is None
