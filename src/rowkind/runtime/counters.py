"""Named counts that workers add to and the driver reads: nothing is dropped, coalesced or diverted uncounted.

Spark may run a task more than once: after a failure, or because an executor died with what it held. The counts of a
task replace those of an earlier run of it, so that what was done once for the batch is counted once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark import TaskContext
from pyspark.accumulators import Accumulator, AccumulatorParam, _accumulatorRegistry
from pyspark.sql import SparkSession

Counted = dict[tuple[int, int], tuple[int, Counter[str]]]
"""By pass over the rows and number of the task: the attempt, and its counts."""


class _ByTask(AccumulatorParam[Any]):
    def zero(self, value: Any) -> Any:
        return {}

    def addInPlace(self, value1: Counted, value2: Counted) -> Counted:
        for place, (attempt, counts) in value2.items():
            known = value1.get(place)
            if known is not None and known[0] == attempt:
                # A task that takes several partitions at once (coalesce) tells the counts of each by itself.
                counts = known[1] + counts
            value1[place] = attempt, counts
        return value1


@contextmanager
def counters(spark: SparkSession) -> Iterator[Accumulator[Any]]:
    """Fresh counters for one batch."""
    with passing(spark, {}, _ByTask()) as made:
        yield made


def add_counts(counters: Any, number: int, counts: Counter[str]) -> None:
    """In a worker, at the end of a pass over a task's rows. `number` tells the pass from the others of the batch."""
    task = TaskContext.get()
    place, attempt = (task.partitionId(), task.taskAttemptId()) if task else (0, 0)
    counters.add({(number, place): (attempt, +counts)})


def total(counters: Accumulator[Any]) -> Counter[str]:
    """What all tasks have counted."""
    counted: Counter[str] = Counter()
    for _, counts in counters.value.values():
        counted.update(counts)
    return counted


@contextmanager
def passing(spark: SparkSession, value: Any, param: AccumulatorParam[Any]) -> Iterator[Accumulator[Any]]:
    """An accumulator for one batch: PySpark itself keeps each one for ever."""
    made = spark.sparkContext.accumulator(value, param)
    try:
        yield made
    finally:
        _accumulatorRegistry.pop(made.aid, None)
