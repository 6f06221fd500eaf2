"""How a run is spread over its workers: in units, the longest first; and at its end, what took how long.

A unit is a file, whose tests share what they set up. Long files have smaller ones: every test of `tests/faults`,
`tests/docs` and `tests/cli/test_run.py` is a unit of its own, and every group of `tests/parity`, which is one job. How
long each took is in `seconds.json`, of which only the order counts: `pytest --write-seconds` writes it again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling

RECORDED = Path(__file__).with_name("seconds.json")
ALONE = ("tests/faults/", "tests/docs/", "tests/cli/test_run.py")
PARITY = "tests/parity/test_parity.py"
SLOWEST = 10
UNKNOWN = {"fault": 60.0, "spark": 20.0}
"""What a unit of tests with such a mark takes as long as nobody has measured it."""


def unit(nodeid: str) -> str:
    """The tests that one worker runs one after the other."""
    file, _, test = nodeid.partition("::")
    if file.startswith(ALONE):
        return nodeid
    if file == PARITY and "[" in test:
        return f"{file}::{test.partition('-')[0]}]"
    return file


class LongestFirst(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out whole units in the order of collection, which `longest_first` has made."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)


def longest_first(items: list[pytest.Item]) -> None:
    """Sort tests so that the longest unit comes first; inside a unit they stay as they are."""
    recorded = json.loads(RECORDED.read_text())
    weights = {unit(item.nodeid): recorded.get(unit(item.nodeid), _unknown(item)) for item in items}
    order = {name: at for at, name in enumerate(sorted(weights, key=lambda name: -weights[name]))}
    items.sort(key=lambda item: order[unit(item.nodeid)])


def _unknown(item: pytest.Item) -> float:
    return max((seconds for mark, seconds in UNKNOWN.items() if item.get_closest_marker(mark)), default=1.0)


def seconds_of(reports: Iterable[Any]) -> Counter[str]:
    """Seconds of each test, with what it set up and took down."""
    taken: Counter[str] = Counter()
    for report in reports:
        if isinstance(report, pytest.TestReport):
            taken[report.nodeid] += report.duration  # type: ignore[assignment]
    return taken


def summary(taken: Mapping[str, float]) -> Iterable[str]:
    """The slowest tests, and the seconds of each group: a folder below `tests`."""
    groups: Counter[str] = Counter()
    for nodeid, seconds in taken.items():
        groups["/".join(nodeid.partition("::")[0].split("/")[:-1])] += seconds  # type: ignore[assignment]
    yield f"The {SLOWEST} slowest tests, in seconds:"
    for nodeid, seconds in sorted(taken.items(), key=lambda pair: -pair[1])[:SLOWEST]:
        yield f"{seconds:8.1f}  {nodeid}"
    yield "Seconds per group:"
    for group, seconds in groups.most_common():
        yield f"{seconds:8.1f}  {group}"
    yield f"{sum(taken.values()):8.1f}  all"


def write_seconds(taken: Mapping[str, float]) -> None:
    """Keep what the units of this run took; those that were not in it stay as they were recorded."""
    units: Counter[str] = Counter()
    for nodeid, seconds in taken.items():
        units[unit(nodeid)] += seconds  # type: ignore[assignment]
    kept = json.loads(RECORDED.read_text()) | {name: round(seconds, 1) for name, seconds in units.items()}
    there = {
        name: kept[name] for name in sorted(kept) if Path(RECORDED.parent.parent, name.partition("::")[0]).exists()
    }
    RECORDED.write_text(json.dumps(there, indent=1) + "\n")
