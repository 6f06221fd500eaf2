"""Notes how far event time is in the rows that a worker reads, split by split."""

from __future__ import annotations

from collections import Counter
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import SparkSession

from rowkind.operators.timers import micros
from rowkind.runtime.counters import passing
from rowkind.runtime.worker.steps import SPLIT, Batches

WATERMARK = "__watermark"


class _Highest(AccumulatorParam[Any]):
    def zero(self, value: Any) -> Any:
        return {}

    def addInPlace(self, value1: Any, value2: Any) -> Any:
        for key, number in value2.items():
            value1[key] = max(number, value1.get(key, number))
        return value1


def highest(spark: SparkSession) -> AbstractContextManager[Accumulator[Any]]:
    """The highest numbers by key: a task that is run twice changes nothing. Keys are (table, number of the split)."""
    return passing(spark, {}, _Highest())


@dataclass(frozen=True, slots=True)
class Watch:
    """Notes the watermark of every split, from a column of times; leaves its own columns out."""

    table: int
    column: str
    delay: int
    times: Any
    """The accumulator."""

    def run(self, batches: Batches, counts: Counter[str]) -> Batches:
        found: dict[tuple[int, int], int] = {}
        for batch in batches:
            self._note(batch, found)
            yield batch.select([name for name in batch.schema.names if name not in (SPLIT, WATERMARK)])
        self.times.add(found)

    def _note(self, batch: pa.RecordBatch, found: dict[tuple[int, int], int]) -> None:
        times = batch.column(self.column)
        valid = times.is_valid().to_numpy(zero_copy_only=False)
        marks = micros(times)[valid] - self.delay
        splits = batch.column(SPLIT).to_numpy(zero_copy_only=False)[valid]
        for number in np.unique(splits).tolist():
            key = (self.table, number)
            highest_here = int(marks[splits == number].max())
            found[key] = max(highest_here, found.get(key, highest_here))
