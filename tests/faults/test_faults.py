"""Check x scenario: each scenario once with a check that the seed chooses, more with ROWKIND_FAULT_ROUNDS.

`make faults` runs it and prints how many faults were survived; ROWKIND_SEED chooses other cells.
"""

from __future__ import annotations

import os
import random
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.arena import Arena, Site, site
from tests.faults.checks import CHECKS, Check, Promise
from tests.faults.scenarios import SCENARIOS, Scenario

pytestmark = [pytest.mark.kafka, pytest.mark.matrix]

SEED = int(os.environ.get("ROWKIND_SEED") or random.randrange(10**6))
ROUNDS = int(os.environ.get("ROWKIND_FAULT_ROUNDS", "1"))

Cell = tuple[Scenario, Check, Promise]
survived = 0


def cells() -> Iterator[Cell]:
    """Checks take turns, from a random first one, so that each has its scenarios; promises by chance."""
    chance = random.Random(SEED)
    turn = chance.randrange(len(CHECKS))
    for _ in range(ROUNDS):
        for scenario in SCENARIOS:
            turn += 1
            yield scenario, CHECKS[turn % len(CHECKS)], chance.choice(scenario.promises)


@pytest.fixture(scope="module")
def ground() -> Iterator[Site]:
    with site() as found:
        yield found
    print(f"\nseed {SEED}: {survived} faults survived in {len(SCENARIOS) * ROUNDS} cells")


def named(cell: Cell) -> str:
    scenario, check, promise = cell
    return f"{scenario.name}-{check.name}-{promise}"


@pytest.mark.parametrize("cell", list(cells()), ids=named)
def test_nothing_is_lost_and_nothing_doubled(cell: Cell, ground: Site, tmp_path: Path) -> None:
    global survived
    scenario, check, promise = cell
    print(f"ROWKIND_SEED={SEED}")
    ground.proxy.delay = 0.0
    survived += scenario.harm(Arena(ground, check, promise, tmp_path, proxied=scenario.proxied))
