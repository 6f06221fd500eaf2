"""Named counts that workers add to and the driver reads: nothing is dropped, coalesced or diverted uncounted."""

from __future__ import annotations

from collections import Counter
from typing import Any

from pyspark.accumulators import Accumulator, AccumulatorParam
from pyspark.sql import SparkSession


class _Adding(AccumulatorParam[Any]):
    def zero(self, value: Any) -> Any:
        return Counter()

    def addInPlace(self, value1: Any, value2: Any) -> Any:
        value1.update(value2)
        return value1


def counters(spark: SparkSession) -> Accumulator[Any]:
    """Fresh counters for one batch. A worker calls `counters.add({"rows-in": 5})`."""
    return spark.sparkContext.accumulator(Counter(), _Adding())
