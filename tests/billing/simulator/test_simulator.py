"""
Weeks of the market from one seed each; a failing one is printed with its steps.

``SIMULATOR_SEEDS=5000 pytest tests/billing/simulator`` runs more, and
``SIMULATOR_FIRST=4711 SIMULATOR_SEEDS=1`` runs one again.
"""

import os

import pytest

from tests.billing.simulator.world import World

FIRST = int(os.environ.get("SIMULATOR_FIRST", "0"))
SEEDS = range(FIRST, FIRST + int(os.environ.get("SIMULATOR_SEEDS", "200")))
STEPS = 25

# Counting lines would take twice as long.
pytestmark = [pytest.mark.django_db, pytest.mark.no_cover]


def run(seed):
    world = World(seed)
    try:
        for _ in range(STEPS):
            world.step()
        world.close()
    except BaseException as error:
        steps = "\n".join(world.log)
        raise AssertionError(f"Seed {seed} broke:\n{steps}") from error
    return world


@pytest.mark.parametrize("seed", SEEDS)
def test_market_keeps_its_books(seed):
    run(seed)
