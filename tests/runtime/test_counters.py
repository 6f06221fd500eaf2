"""Counts of tasks: each counts once for the batch, however often Spark runs it."""

from __future__ import annotations

from collections import Counter

from rowkind.runtime.counters import Counted, _ByTask


def merged(*told: Counted) -> dict[tuple[int, int], Counter[str]]:
    value: Counted = {}
    for counted in told:
        value = _ByTask().addInPlace(value, counted)
    return {place: counts for place, (_, counts) in value.items()}


def test_a_task_that_is_run_again_replaces_its_counts() -> None:
    first, again = {(0, 1): (7, Counter(rows=500))}, {(0, 1): (9, Counter(rows=500))}
    assert merged(first, again) == {(0, 1): Counter(rows=500)}


def test_tasks_and_passes_are_told_apart() -> None:
    told = [{(0, 0): (1, Counter(rows=1))}, {(0, 1): (2, Counter(rows=2))}, {(1, 0): (1, Counter(rows=4))}]
    assert sum(merged(*told).values(), Counter()) == Counter(rows=7)


def test_the_partitions_that_one_task_takes_add_up() -> None:
    one, two = {(0, 0): (5, Counter(rows=3))}, {(0, 0): (5, Counter(rows=4))}
    assert merged(one, two) == {(0, 0): Counter(rows=7)}
    assert merged(one, two, {(0, 0): (6, Counter(rows=3))}, {(0, 0): (6, Counter(rows=4))}) == {(0, 0): Counter(rows=7)}
