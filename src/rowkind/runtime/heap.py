"""How much memory Java has for rows: what it is given by default, and what batches of large messages may take of it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import SparkSession

from rowkind.runtime.driver.state_partitions import is_local

MOST = 2 * 1024**3
SHARE = 3
"""Java takes about as much again beside its heap, and workers and driver what is left of the machine."""
LIMITS = ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes")
"""Where a container says how much memory it has."""


def machine_memory(limits: Iterable[str] = LIMITS) -> int:
    """Bytes of this machine, or of the container that this process is in."""
    told = [os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")]
    for limit in map(Path, limits):
        text = limit.read_text().strip() if limit.exists() else ""
        told += [int(text)] if text.isdigit() else []
    return min(told)


def usual_heap(memory: int) -> int:
    """The heap of a Java that shares so much memory with the workers of a job."""
    return min(MOST, memory // SHARE)


def heap_of(spark: SparkSession) -> int:
    """Bytes of heap that the tasks of a batch have together."""
    context = spark.sparkContext
    java = context._jvm
    assert java is not None
    if is_local(context.master):
        return int(java.java.lang.Runtime.getRuntime().maxMemory())
    conf = context.getConf()
    each = int(java.org.apache.spark.network.util.JavaUtils.byteStringAsBytes(conf.get("spark.executor.memory", "1g")))
    executors = context.defaultParallelism // int(conf.get("spark.executor.cores") or 1)
    return each * max(1, executors)
