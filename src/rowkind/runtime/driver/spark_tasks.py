"""What a source has to do in workers while a batch is planned, such as reading rows that can be read only once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from pyspark.sql import SparkSession

from rowkind.runtime.worker_errors import carried, reported


@dataclass(frozen=True, slots=True)
class SparkTasks:
    """Runs a function for each argument as a task of Spark; errors come back under their names."""

    spark: SparkSession
    nonce: str

    def __call__(self, function: Callable[[Any], Any], arguments: Sequence[Any]) -> list[Any]:
        if not arguments:
            return []
        tasks = list(enumerate(arguments))
        run = self.spark.sparkContext.parallelize(tasks, len(tasks)).map(partial(_call, function, self.nonce))
        try:
            return [answer for _, answer in sorted(run.collect(), key=lambda pair: pair[0])]
        except Exception as cause:
            found = carried(cause, self.nonce)
            if found is None:
                raise
            raise found from cause


def _call(function: Callable[[Any], Any], nonce: str, task: tuple[int, Any]) -> tuple[int, Any]:
    number, argument = task
    return number, reported(nonce, function, argument)
