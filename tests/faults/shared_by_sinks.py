"""Three sinks of one job on two executors, which all need the same rows at the same time.

`python -m tests.faults.shared_by_sinks <broker> <source> <dead letters> <sink> <sink> <sink>` prints the job's counts.
"""

from __future__ import annotations

import json
import sys

from rowkind.runtime.driver.session import Session
from rowkind.runtime.driver.spark import start_spark

TABLE = (
    "CREATE TABLE {name} (id INT, name STRING) WITH ('connector' = 'kafka', 'topic' = '{topic}', 'format' = 'json', "
)


def script(broker: str, source: str, dead: str, sinks: list[str]) -> str:
    at = f"'properties.bootstrap.servers' = '{broker}'"
    read = "'scan.startup.mode' = 'earliest-offset', 'scan.bounded.mode' = 'latest-offset', "
    read += f"'scan.on-error' = 'dead-letter', 'scan.dead-letter.topic' = '{dead}', "
    statements = [TABLE.format(name="events", topic=source) + read + at + ")"]
    statements += [TABLE.format(name=f"sink{i}", topic=topic) + at + ")" for i, topic in enumerate(sinks)]
    statements += ["BEGIN STATEMENT SET"]
    statements += [f"INSERT INTO sink{i} SELECT id, UPPER(name) FROM events WHERE id >= {i}" for i in range(len(sinks))]
    return ";\n".join([*statements, "END;"])


def main() -> None:
    broker, source, dead, *sinks = sys.argv[1:]
    spark = start_spark("local-cluster[2,1,1024]", {"spark.executor.memory": "512m", "spark.ui.enabled": "false"})
    session = Session(spark, notify=lambda note: print(note, flush=True))
    session.sql(script(broker, source, dead, sinks))
    for job in session.jobs:
        print(job.wait(), job.status, job.progress)
    print(json.dumps(session.jobs[-1].progress.counts), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
