"""Scenario x check: every scenario harms one job that does all checks. ROWKIND_FAULT_ROUNDS does it again and again.

Under at-least-once most scenarios are left to `make faults`, which prints how many faults were survived.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.arena import Arena, Site, site
from tests.faults.checks import Promise
from tests.faults.scenarios import SCENARIOS, Scenario

pytestmark = pytest.mark.kafka

ROUNDS = int(os.environ.get("ROWKIND_FAULT_ROUNDS", "1"))
survived: list[int] = []


def cells() -> Iterator[Any]:
    for round_ in range(ROUNDS):
        for scenario in SCENARIOS:
            for promise in scenario.promises:
                short = promise is Promise.EXACTLY_ONCE and round_ == 0
                mark = pytest.mark.fault if short else pytest.mark.matrix
                yield pytest.param(scenario, promise, marks=mark, id=f"{scenario.name}-{promise}")


@pytest.fixture(scope="module")
def ground() -> Iterator[Site]:
    with site() as found:
        yield found
    print(f"\n{sum(survived)} faults survived in {len(survived)} runs")


@pytest.mark.parametrize(("scenario", "promise"), list(cells()))
def test_nothing_is_lost_and_nothing_doubled(
    scenario: Scenario, promise: Promise, ground: Site, tmp_path: Path
) -> None:
    ground.proxy.delay = 0.0
    survived.append(scenario.harm(Arena(ground, promise, tmp_path, proxied=scenario.proxied)))
