"""
The API held against its own description, with what it allows and what it does not.
"""

import pytest
import schemathesis
import time_machine
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, transaction
from hypothesis import HealthCheck, settings

from catalog.api.v1 import api
from catalog.loading import load_catalog
from config.wsgi import application
from tests.catalog.conftest import NOW

DESCRIPTION = schemathesis.openapi.from_dict(api.get_openapi_schema())
DESCRIPTION.app = application


@pytest.fixture(scope="module")
def shipped_catalog(django_db_setup, django_db_blocker):
    """
    The catalog of the data files, loaded once for all operations.
    """
    signals = [request_started, request_finished]
    for signal in signals:
        signal.disconnect(close_old_connections)
    with django_db_blocker.unblock(), transaction.atomic():
        load_catalog(at=NOW)
        yield
        transaction.set_rollback(True)
    for signal in signals:
        signal.connect(close_old_connections)


@pytest.mark.django_db
@DESCRIPTION.parametrize()
@settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=[*HealthCheck],
)
def test_answers_as_described(case, shipped_catalog):
    with time_machine.travel(NOW, tick=False):
        case.call_and_validate()
