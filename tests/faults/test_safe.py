"""Old copies, edits, second jobs and second runs, and no power: each scenario harms one job that does all checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.arena import Arena, Site, site
from tests.faults.checks import Promise
from tests.faults.safe_scenarios import SAFE_SCENARIOS
from tests.faults.scenarios import Scenario

pytestmark = [pytest.mark.kafka, pytest.mark.matrix]

CELLS = [
    pytest.param(scenario, promise, id=f"{scenario.name}-{promise}")
    for scenario in SAFE_SCENARIOS
    for promise in scenario.promises
]


@pytest.fixture(scope="module")
def ground() -> Iterator[Site]:
    with site() as found:
        yield found


@pytest.mark.parametrize(("scenario", "promise"), CELLS)
def test_nothing_is_lost_in_silence(
    scenario: Scenario, promise: Promise, ground: Site, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    survived = scenario.harm(Arena(ground, promise, tmp_path, proxied=scenario.proxied))
    record_property("faults survived", survived)
