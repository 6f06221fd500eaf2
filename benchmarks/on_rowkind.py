"""One workload on rowkind: a small job twice, then the whole one; prints what they took as one JSON line."""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

from rowkind.runtime.driver.job import Job
from rowkind.runtime.driver.session import Session
from rowkind.runtime.driver.spark import start_spark
from tests.faults.processes import processes, workers


def main() -> None:
    """Arguments: tables and INSERT of the small job, tables and INSERT of the whole one."""
    started = time.monotonic()
    spark = start_spark()
    startup = time.monotonic() - started
    first, small = (_seconds(spark, sys.argv[1], sys.argv[2]) for _ in range(2))
    before = _cpu_seconds()
    whole = _seconds(spark, sys.argv[3], sys.argv[4])
    took = {"startup": startup, "first": first, "small": small, "seconds": whole, "cpu": _cpu_seconds() - before}
    print(json.dumps({**took, "worker_megabytes": _most_memory()}))
    spark.stop()


def _seconds(spark: SparkSession, tables: str, insert: str) -> float:
    session = Session(spark, notify=lambda _: None)
    session.sql(tables)
    started = time.monotonic()
    job = session.sql(insert)
    assert isinstance(job, Job)
    job.wait()
    return time.monotonic() - started


def _cpu_seconds() -> float:
    """What the driver, Java and the workers have used so far, with workers that have ended."""
    ticks = 0
    for process in processes(os.getsid(0)):
        fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
        ticks += sum(map(int, fields[11:15]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _most_memory() -> int:
    """What the largest Python worker has ever held, in megabytes."""
    statuses = (Path(f"/proc/{pid}/status").read_text() for pid in workers(os.getsid(0)))
    return max(int(status.partition("VmHWM:")[2].split()[0]) // 1024 for status in statuses)


if __name__ == "__main__":
    main()
