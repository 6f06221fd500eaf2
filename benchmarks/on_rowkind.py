"""One workload on rowkind: a small job twice, then the whole one; prints what they took as one JSON line."""

from __future__ import annotations

import json
import sys
import time

from pyspark.sql import SparkSession

from rowkind.runtime.job import Job
from rowkind.runtime.session import Session
from rowkind.runtime.spark import start_spark


def main() -> None:
    """Arguments: tables and INSERT of the small job, tables and INSERT of the whole one."""
    started = time.monotonic()
    spark = start_spark()
    startup = time.monotonic() - started
    first, small = (_seconds(spark, sys.argv[1], sys.argv[2]) for _ in range(2))
    whole = _seconds(spark, sys.argv[3], sys.argv[4])
    print(json.dumps({"startup": startup, "first": first, "small": small, "seconds": whole}))
    spark.stop()


def _seconds(spark: SparkSession, tables: str, insert: str) -> float:
    session = Session(spark, notify=lambda _: None)
    session.sql(tables)
    started = time.monotonic()
    job = session.sql(insert)
    assert isinstance(job, Job)
    job.wait()
    return time.monotonic() - started


if __name__ == "__main__":
    main()
