import os

import pytest
from django.core.cache import cache
from django.db import connection

from config.celery import app


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
