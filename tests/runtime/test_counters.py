"""Counts of tasks: each counts once for the batch, however often Spark runs it."""

from __future__ import annotations

import pickle

from rowkind.metrics.traffic import Lane, Side, StateSize, Traffic
from rowkind.runtime.counters import Counted, Tally, _ByTask


def merged(*told: Counted) -> dict[tuple[int, int], Tally]:
    value: Counted = {}
    for counted in told:
        value = _ByTask().addInPlace(value, counted)
    return {place: counts for place, (_, counts) in value.items()}


def test_a_task_that_is_run_again_replaces_its_counts() -> None:
    first, again = {(0, 1): (7, Tally({"rows": 500}))}, {(0, 1): (9, Tally({"rows": 500}))}
    assert merged(first, again) == {(0, 1): Tally({"rows": 500})}


def test_tasks_and_passes_are_told_apart() -> None:
    told = [{(0, 0): (1, Tally({"rows": 1}))}, {(0, 1): (2, Tally({"rows": 2}))}, {(1, 0): (1, Tally({"rows": 4}))}]
    assert sum(merged(*told).values(), Tally()) == Tally({"rows": 7})


def test_the_partitions_that_one_task_takes_add_up() -> None:
    one, two = {(0, 0): (5, Tally({"rows": 3}))}, {(0, 0): (5, Tally({"rows": 4}))}
    assert merged(one, two) == {(0, 0): Tally({"rows": 7})}
    assert merged(one, two, {(0, 0): (6, Tally({"rows": 3}))}, {(0, 0): (6, Tally({"rows": 4}))}) == {
        (0, 0): Tally({"rows": 7})
    }


def test_traffic_and_state_are_summed_over_tasks_and_replaced_with_them() -> None:
    lane = Lane(Side.READ, "orders", "orders-v1")

    def told(records: int) -> Tally:
        tally = Tally()
        tally.traffic_of(lane).read(records, 10 * records, event_time=records, fetched=9)
        tally.states["join"] = StateSize(records, 100)
        carried: Tally = pickle.loads(pickle.dumps(tally))  # as it comes from a worker
        return carried

    value = merged({(0, 0): (1, told(3))}, {(0, 0): (1, told(4))}, {(0, 1): (2, told(5))})
    total = Tally()
    for tally in value.values():
        total.add(tally)
    assert total.traffic == {lane: Traffic(12, 120, 5, 9)}
    assert total.states == {"join": StateSize(12, 300)}
    again = merged({(0, 0): (1, told(3))}, {(0, 0): (2, told(3))})
    assert again[0, 0].traffic == {lane: Traffic(3, 30, 3, 9)}
