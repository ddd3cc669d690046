"""
Play seeds, one after the other, from the same stage.
"""

import logging
import random
from contextlib import contextmanager
from unittest import mock

from django.db import transaction
from django.test import override_settings

from tests.simulator.machines import SIMULATED
from tests.simulator.world import World

STEPS = 28


class Collector(logging.Handler):
    """
    Keeps what the services log as errors: they went on, but should not have had to.
    """

    def __init__(self, errors):
        super().__init__(logging.ERROR)
        self.errors = errors

    def emit(self, record):
        self.errors.append(record.getMessage() + str(record.exc_info or ""))


@contextmanager
def collecting(errors):
    handler = Collector(errors)
    loggers = [
        logging.getLogger(app) for app in ("billing", "marketplace", "workspaces")
    ]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)


def play(seed, stage, steps=STEPS, often=()):
    """
    Play one seed and leave nothing of it behind; some deeds may be done `often`.

    :raises AssertionError: if the services and the model disagree, with every step
    """
    world = World(seed, stage, often)
    # No atomic block: a tick is one itself, and refuses to be part of another.
    before = transaction.savepoint()
    try:
        # What suppliers list at a desk, they start by hand; the rest starts by itself.
        machines = {"PROVISIONER": "simulated", "SIMULATED_SEED": seed, **SIMULATED}
        # Ids, too, follow from the seed alone, and what is drawn by them.
        ids = mock.patch("os.urandom", random.Random(seed).randbytes)
        with override_settings(**machines), collecting(world.errors), ids:
            for _ in range(steps):
                world.step()
            world.close()
    except BaseException as error:
        done = "\n".join([*world.log, *world.errors])
        raise AssertionError(f"Seed {seed} broke:\n{done}") from error
    finally:
        # A statement that failed must not hide what it was.
        transaction.set_rollback(False)
        transaction.savepoint_rollback(before)
    return world


def is_clean(seed, stage, often=()):
    try:
        play(seed, stage, often=often)
    except AssertionError:
        return False
    return True
