"""
Weeks of the market from one seed each; a failing one is printed with its steps.

``make simulate`` plays more seeds, and longer; ``SIMULATOR_FIRST=4711
SIMULATOR_SEEDS=1 SIMULATOR_STEPS=28 pytest tests/simulator`` plays one again.
"""

import os

import pytest

from tests.simulator.playing import play

FIRST = int(os.environ.get("SIMULATOR_FIRST", "0"))
SEEDS = int(os.environ.get("SIMULATOR_SEEDS", "200"))
# Of the steps that a seed has in playing.py, for the time that all tests may take.
STEPS = int(os.environ.get("SIMULATOR_STEPS", "20"))
SEEDS_TOGETHER = 10

# Counting lines would take twice as long.
pytestmark = [pytest.mark.django_db, pytest.mark.no_cover]


@pytest.mark.parametrize("first", range(FIRST, FIRST + SEEDS, SEEDS_TOGETHER))
def test_market_keeps_its_books(first, stage):
    for seed in range(first, min(first + SEEDS_TOGETHER, FIRST + SEEDS)):
        play(seed, stage, STEPS)
