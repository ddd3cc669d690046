"""
The API held against its own description, with what it allows and what it does not.
"""

from collections import Counter

import pytest
import schemathesis
from django.core.signals import request_finished, request_started
from django.db import close_old_connections, connections
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import from_schema
from schemathesis.engine.events import FatalError, NonFatalError, ScenarioFinished

import clock
from catalog.loading import load_catalog
from config.wsgi import application

# It walks over what other tests count, and counting takes half its time.
pytestmark = pytest.mark.no_cover

# How many calls an address gets at random, besides those at every boundary.
EXAMPLES = 10
# At a boundary, at random, from the examples; nothing is left behind to go on with.
PHASES = ["examples", "coverage", "fuzzing"]


@pytest.fixture
def described(client, db):
    """
    The API as it describes itself, over the catalog of the data files.

    Schemathesis calls it from a thread, where it has to see what the test sees.
    """
    load_catalog(at=clock.now())
    shared = connections["default"]

    def application_here(environ, start_response):
        connections["default"] = shared
        return application(environ, start_response)

    description = schemathesis.openapi.from_dict(
        client.get("/api/v1/openapi.json").json(), config=SchemathesisConfig(seed=1)
    )
    description.app = application_here
    description.config.generation.update(max_examples=EXAMPLES, deterministic=True)
    description.config.phases.update(phases=PHASES)
    signals = [request_started, request_finished]
    for signal in signals:
        signal.disconnect(close_old_connections)
    shared.inc_thread_sharing()
    yield description
    shared.dec_thread_sharing()
    for signal in signals:
        signal.connect(close_old_connections)


def test_answers_as_described(described):
    answered, faults = Counter(), []

    for event in from_schema(described).execute():
        if isinstance(event, FatalError | NonFatalError):
            faults.append(event)
        if isinstance(event, ScenarioFinished):
            made = event.recorder
            for case in made.interactions.values():
                answered[case.response.status_code] += 1
            faults += [
                (event.label, check.name, check.failure_info)
                for checks in made.checks.values()
                for check in checks
                if check.failure_info
            ]

    assert faults == []
    assert {200, 204, 404, 405, 422} <= set(answered)
    assert answered.total() > 500
