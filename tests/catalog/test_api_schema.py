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

# From the examples, at every boundary, at random; nothing is left behind to go on with.
PHASES = ["examples", "coverage", "fuzzing"]
# How many calls an address gets at random.
EXAMPLES = 5
# Its two dozen parameters are those of the shorter address and of a form: they have two
# thousand boundaries, so that it is only called at random.
MANY = "/api/v1/estimate/own"
MANY_EXAMPLES = 40


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
    signals = [request_started, request_finished]
    for signal in signals:
        signal.disconnect(close_old_connections)
    shared.inc_thread_sharing()
    yield description
    shared.dec_thread_sharing()
    for signal in signals:
        signal.connect(close_old_connections)


def events_of(description, *, phases, examples):
    description.config.generation.update(max_examples=examples, deterministic=True)
    description.config.phases.update(phases=phases)
    yield from from_schema(description).execute()


def test_answers_as_described(described):
    answered, faults = Counter(), []
    asked = [
        (described.exclude(path=MANY), PHASES, EXAMPLES),
        (described.include(path=MANY), ["examples", "fuzzing"], MANY_EXAMPLES),
    ]

    for description, phases, examples in asked:
        for event in events_of(description, phases=phases, examples=examples):
            if isinstance(event, FatalError | NonFatalError):
                faults.append(event)
            if isinstance(event, ScenarioFinished):
                answered.update(calls_of(event))
                faults += failures_of(event)

    assert faults == []
    assert {200, 204, 404, 405, 422} <= {status for _path, _mode, status in answered}
    paths = {path for path, _mode, _status in answered}
    assert paths == set(described.raw_schema["paths"])
    # Those without a parameter know no other wrong call than another method.
    for path in paths:
        modes = {mode for each, mode, _status in answered if each == path}
        assert modes == {"positive", "negative"}, path
    assert answered.total() > 500


def calls_of(event):
    recorded = event.recorder
    for number, made in recorded.interactions.items():
        case = recorded.cases[number].value
        yield (
            case.operation.path,
            case.meta.generation.mode.value,
            made.response.status_code,
        )


def failures_of(event):
    return [
        (event.label, check.name, check.failure_info)
        for checks in event.recorder.checks.values()
        for check in checks
        if check.failure_info
    ]
