"""
The stage, set once for all tests of a file: every seed leaves it as it was.
"""

import pytest
from django.db import transaction

from tests.simulator.stage import set_stage


@pytest.fixture(scope="module")
def stage(django_db_setup, django_db_blocker):
    # What a test does is rolled back to here, as pytest-django nests its transaction.
    with django_db_blocker.unblock(), transaction.atomic():
        yield set_stage()
        transaction.set_rollback(True)
