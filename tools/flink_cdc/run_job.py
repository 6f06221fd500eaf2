"""Runs one endless INSERT on Flink CDC until stdin is closed; runs in its own environment.

The first line of stdin: {"config": {…}, "tables": ["CREATE TABLE …", …], "insert": "INSERT INTO …"}. Prints one line
when the job was handed over.
"""

from __future__ import annotations

import json
import os
import sys

from pyflink.table import EnvironmentSettings, TableEnvironment


def main() -> None:
    given = json.loads(sys.stdin.readline())
    env = TableEnvironment.create(EnvironmentSettings.in_streaming_mode())
    jars = [f"file://{jar}" for jar in os.environ["FLINK_JARS"].split(os.pathsep)]
    for name, value in {"pipeline.jars": ";".join(jars), **given["config"]}.items():
        env.get_config().set(name, value)
    for table in given["tables"]:
        env.execute_sql(table)
    job = env.execute_sql(given["insert"]).get_job_client()
    print("started", flush=True)
    sys.stdin.read()
    if job is not None:
        job.cancel().result()
    os._exit(0)  # threads of its cluster go on otherwise


if __name__ == "__main__":
    main()
