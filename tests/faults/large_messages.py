"""A job that copies large messages and keeps the last one of each key, and how much memory it took.

`python -m tests.faults.large_messages <broker> <log> <source> <copies> <latest>` prints the job's counts and the most
memory that the driver, its JVM and its workers held together, in MB. Java has the heap of a machine with 2 GB. Pages of
mapped files are left out: they are the system's to take back.
"""

from __future__ import annotations

import json
import os
import sys
import threading
from pathlib import Path

from rowkind.runtime.driver.session import Session
from rowkind.runtime.driver.spark import start_spark
from rowkind.runtime.heap import usual_heap
from tests.faults.processes import children, share_of_memory

SCRIPT = """
CREATE TABLE source (id INT, text STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
    'topic' = '{source}', {at}, 'key.format' = 'json', 'value.format' = 'json', 'scan.bounded.mode' = 'latest-offset');
CREATE TABLE copies (id INT, text STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
    'topic' = '{copies}', {at}, 'key.format' = 'json', 'value.format' = 'json');
CREATE TABLE latest (text STRING, ids BIGINT, PRIMARY KEY (text) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
    'topic' = '{latest}', {at}, 'key.format' = 'json', 'value.format' = 'json');
BEGIN STATEMENT SET;
INSERT INTO copies SELECT id, text FROM source WHERE CHAR_LENGTH(text) > 3;
INSERT INTO latest SELECT SUBSTRING(text FROM 1 FOR 8), COUNT(*) FROM source GROUP BY SUBSTRING(text FROM 1 FOR 8);
END;
"""


class Peak(threading.Thread):
    """The most memory that all processes had together."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.highest: list[float] = []
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.1):
            held = [share_of_memory(pid) for pid in (os.getpid(), *children(os.getpid()))]
            if sum(held) > sum(self.highest):
                self.highest = held


def main() -> None:
    broker, log, source, copies, latest = sys.argv[1:]
    heap = f"{usual_heap(2 * 1024**3) >> 20}m"
    spark = start_spark("local[2,4]", {"spark.driver.memory": heap}, log=Path(log))
    at = f"'properties.bootstrap.servers' = '{broker}', 'properties.max.request.size' = '20000000'"
    peak = Peak()
    peak.start()
    session = Session(spark, notify=lambda _: None)
    session.sql(SCRIPT.format(at=at, source=source, copies=copies, latest=latest))
    [job] = session.jobs
    job.wait()
    peak.over.set()
    print(json.dumps({"megabytes": peak.highest, "batches": job.progress.batches, **job.progress.counts}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
