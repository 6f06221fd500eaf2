"""What workers tell the driver of a batch: nothing is dropped, coalesced or diverted uncounted.

Spark may run a task more than once: after a failure, or because an executor died with what it held. The counts of a
task replace those of an earlier run of it, so that what was done once for the batch is counted once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from pyspark import TaskContext
from pyspark.accumulators import Accumulator, AccumulatorParam, _accumulatorRegistry
from pyspark.sql import SparkSession

from rowkind.metrics.traffic import Lane, StateSize, Traffic, merge

Place = tuple[int, int]
"""A split as a batch numbers it: the number of its table in the job, and its own among those that are read."""


class Tally(Counter[str]):
    """Named counts, and beside them what is more than a sum: traffic, the size of state, event time, and timers."""

    def __init__(self, counts: Mapping[str, int] | None = None) -> None:
        super().__init__(counts or {})
        self.traffic: dict[Lane, Traffic] = {}
        self.states: dict[str, StateSize] = {}
        """By operator. Every partition tells its own; together they are what the operator keeps."""
        self.marks: dict[Place, int] = {}
        """The highest watermark of each split that was watched."""
        self.due: int | None = None
        """When an operator wants to run again at the latest, even without new rows."""

    def traffic_of(self, lane: Lane) -> Traffic:
        """What was told of a lane so far, to add to."""
        return self.traffic.setdefault(lane, Traffic())

    def mark(self, place: Place, time: int) -> None:
        """A watermark was seen."""
        self.marks[place] = max(time, self.marks.get(place, time))

    def wake(self, due: int | None) -> None:
        """An operator wants to run again at a time, if any."""
        if due is not None:
            self.due = due if self.due is None else min(due, self.due)

    def add(self, other: Tally) -> None:
        """What another task, or another partition of this one, has told."""
        self.update(other)
        merge(self.traffic, other.traffic)
        for operator, size in other.states.items():
            self.states[operator] = self.states.get(operator, StateSize()) + size
        for place, time in other.marks.items():
            self.mark(place, time)
        self.wake(other.due)

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (dict(+self), self.traffic, self.states, self.marks, self.due)


def _restored(
    counts: dict[str, int],
    traffic: dict[Lane, Traffic],
    states: dict[str, StateSize],
    marks: dict[Place, int],
    due: int | None,
) -> Tally:
    tally = Tally(counts)
    tally.traffic, tally.states, tally.marks, tally.due = traffic, states, marks, due
    return tally


Counted = dict[tuple[int, int], tuple[int, Tally]]
"""By pass over the rows and number of the task: the attempt, and what it told."""


class _ByTask(AccumulatorParam[Any]):
    def zero(self, value: Any) -> Any:
        return {}

    def addInPlace(self, value1: Counted, value2: Counted) -> Counted:
        for place, (attempt, tally) in value2.items():
            known = value1.get(place)
            if known is not None and known[0] == attempt:
                # A task that takes several partitions at once (coalesce) tells the counts of each by itself.
                known[1].add(tally)
            else:
                value1[place] = attempt, tally
        return value1


@contextmanager
def counters(spark: SparkSession) -> Iterator[Accumulator[Any]]:
    """Fresh counters for one batch."""
    made = spark.sparkContext.accumulator({}, _ByTask())
    try:
        yield made
    finally:
        _accumulatorRegistry.pop(made.aid, None)  # PySpark itself keeps each one for ever


def add_counts(counters: Any, number: int, tally: Tally) -> None:
    """In a worker, at the end of a pass over a task's rows. `number` tells the pass from the others of the batch."""
    task = TaskContext.get()
    place, attempt = (task.partitionId(), task.taskAttemptId()) if task else (0, 0)
    counters.add({(number, place): (attempt, tally)})


def total(counters: Accumulator[Any]) -> Tally:
    """What all tasks have told."""
    found = Tally()
    for _, tally in counters.value.values():
        found.add(tally)
    return found
