"""Whether all machines of a job have its checkpoint: asked at the start, before anything is read."""

from __future__ import annotations

import socket
from collections import Counter
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import SparkSession

from rowkind.runtime.counters import counters
from rowkind.runtime.driver.deltas import Delta
from rowkind.runtime.driver.state_partitions import is_local
from rowkind.runtime.worker.steps import Batches
from rowkind.runtime.worker_errors import new_nonce
from rowkind.state.belonging import marked, not_shared

FOUND = pa.schema([("host", pa.string()), ("found", pa.string())])


@dataclass(frozen=True, slots=True)
class Look:
    """What a worker finds in the state's folder. It tells and does not fail: Spark would try again elsewhere."""

    root: str

    def run(self, batches: Batches, counts: Counter[str]) -> Batches:
        for _ in batches:
            yield pa.RecordBatch.from_pylist([{"host": socket.gethostname(), "found": marked(self.root)}], FOUND)


def check_shared(spark: SparkSession, root: str, checkpoint: str) -> None:
    """Ask a task on every executor that has come so far; those that come later ask when they first open state."""
    context = spark.sparkContext
    if is_local(context.master):
        return
    tasks = 2 * max(context.defaultParallelism, 2)  # Spark gives each executor one before any gets a second
    with counters(spark) as counted:
        asked = Delta(spark.range(0, tasks, 1, tasks), FOUND, counted, new_nonce()).then(Look(root), FOUND)
        answers = asked.frame().distinct().collect()
    for host, found in answers:
        if found != checkpoint:
            raise not_shared(root, host, found)
