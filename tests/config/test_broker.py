"""
What a broker that hangs or lies can do to a page and to a worker.
"""

import os
import pickle
import signal
import time

import pytest
from celery import Celery
from celery.exceptions import OperationalError
from django.conf import settings
from kombu.exceptions import ContentDisallowed
from kombu.serialization import loads, registry
from redis.exceptions import RedisError

from config import celery_app
from config.embedded import valkey

PATIENCE_SECONDS = 4
"""What a page may wait for a wake-up that does not come through."""


@pytest.fixture
def broker(tmp_path):
    with (tmp_path / "log").open("wb") as log:
        process = valkey.start(tmp_path, log, append_only=False)
    valkey.wait_until_ready(tmp_path, process)
    yield process, f"redis+socket://{valkey.socket(tmp_path)}"
    process.kill()
    process.wait()


def test_a_broker_that_hangs_costs_a_page_a_few_seconds(broker):
    process, url = broker
    app = Celery("corehour")
    app.config_from_object(settings, namespace="CELERY")
    app.conf.broker_url = url
    app.send_task("marketplace.tasks.send_mail", retry=False)
    process.send_signal(signal.SIGSTOP)
    began = time.monotonic()

    with pytest.raises((OperationalError, RedisError, OSError)):
        app.send_task("marketplace.tasks.send_mail", retry=False)

    assert time.monotonic() - began < PATIENCE_SECONDS
    process.send_signal(signal.SIGCONT)
    app.send_task("marketplace.tasks.send_mail", retry=False)


class Bomb:
    def __reduce__(self):
        return (os.mkdir, ("/tmp/corehour-was-here",))


def test_a_worker_opens_no_pickle():
    accepted = {
        registry.name_to_type.get(name) for name in celery_app.conf.accept_content
    }
    body = pickle.dumps(Bomb())

    with pytest.raises(ContentDisallowed):
        loads(body, "application/x-python-serialize", "binary", accept=accepted)

    assert accepted == {"application/json"}
    assert not os.path.exists("/tmp/corehour-was-here")
