"""Scenario x check: every scenario harms one job that does all checks. ROWKIND_FAULT_ROUNDS does it again and again.

What a change is most likely to break is in `make test`; `make faults` has all of it, and prints how long each took.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.faults.arena import Arena, Site, site
from tests.faults.checks import Promise
from tests.faults.scenarios import SCENARIOS, Scenario

pytestmark = pytest.mark.kafka

ROUNDS = int(os.environ.get("ROWKIND_FAULT_ROUNDS", "1"))


def cells() -> Iterator[Any]:
    for round_ in range(ROUNDS):
        for scenario in SCENARIOS:
            for promise in scenario.promises:
                mark = pytest.mark.fault if promise in scenario.always and round_ == 0 else pytest.mark.matrix
                yield pytest.param(scenario, promise, marks=mark, id=f"{scenario.name}-{promise}")


@pytest.fixture(scope="module")
def ground() -> Iterator[Site]:
    with site() as found:
        yield found


@pytest.mark.parametrize(("scenario", "promise"), list(cells()))
def test_nothing_is_lost_and_nothing_doubled(
    scenario: Scenario, promise: Promise, ground: Site, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    ground.proxy.delay = 0.0
    survived = scenario.harm(Arena(ground, promise, tmp_path, proxied=scenario.proxied))
    record_property("faults survived", survived)
