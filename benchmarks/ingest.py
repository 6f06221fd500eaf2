"""Ingestion beside Flink CDC: the same tables of one MySQL into topics of one broker, one engine after the other.

Each engine is started as a process and watched from outside, by the end of its topic. `rows_per_second` counts from the
start of the process to the last message, `steady` from the first message on. Flink CDC runs as a table of
`mysql-cdc` into one of `upsert-kafka` with JSON, a task for each core, and chunks of 100,000 rows, which it is fastest
with; rowkind runs as it comes. `make bench-ingest` installs what Flink CDC needs.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pymysql
from confluent_kafka import TopicPartition
from confluent_kafka.admin import AdminClient, OffsetSpec

from benchmarks.generate import BROKER_JVM, create
from rowkind.broker import Broker
from rowkind.broker.download import fetch
from rowkind.demo_servers.database import DatabaseServer
from rowkind.demo_servers.database_programs import Flavor

HERE = Path(__file__).parent.parent / "tools" / "flink_cdc"
PARTITIONS = 4
SECONDS = 900
CHUNK = 100_000
NARROW = {"id": "INT", "k": "VARCHAR(20)", "v": "INT", "ts": "DATETIME"}
WIDE = {
    "id": "INT",
    **{f"i{n}": "BIGINT" for n in range(6)},
    **{f"s{n}": "VARCHAR(40)" for n in range(6)},
    **{f"d{n}": "DOUBLE" for n in range(3)},
    **{f"m{n}": "DECIMAL(12, 2)" for n in range(2)},
    **{f"t{n}": "DATETIME" for n in range(2)},
}
VALUES = {
    "INT": "n % 1000003",
    "BIGINT": "n * 1000003",
    "VARCHAR(20)": "CONCAT('key-', n % 9973)",
    "VARCHAR(40)": "CONCAT('a text of row ', n)",
    "DOUBLE": "n / 7",
    "DECIMAL(12, 2)": "n / 100",
    "DATETIME": "TIMESTAMPADD(SECOND, n, '2026-01-01')",
}
FLINK_TYPES = {"VARCHAR(20)": "STRING", "VARCHAR(40)": "STRING", "DATETIME": "TIMESTAMP(0)"}


@dataclass(frozen=True, slots=True)
class Workload:
    """What is copied: rows that are there, or changes that are in the log after a place."""

    name: str
    columns: dict[str, str]
    rows: int
    """In a statement; 0: the table is filled at once and copied."""
    messages: int


def workloads(scale: float) -> list[Workload]:
    def scaled(rows: int) -> int:
        return max(1000, int(rows * scale))

    return [
        Workload("snapshot", NARROW, 0, scaled(1_000_000)),
        Workload("snapshot-wide", WIDE, 0, scaled(200_000)),
        Workload("binlog-100-rows", NARROW, 100, scaled(500_000)),
        Workload("binlog-one-row", NARROW, 1, scaled(200_000)),
        Workload("binlog-wide", WIDE, 100, scaled(200_000)),
    ]


@dataclass(frozen=True, slots=True)
class Site:
    """One server and one broker."""

    server: DatabaseServer
    bootstrap: str
    folder: Path
    admin: AdminClient

    def run(self, *statements: str) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = []
        with (
            pymysql.connect(host=self.server.host, port=self.server.port, user="root", autocommit=True) as connection,
            connection.cursor() as cursor,
        ):
            cursor.execute("SET SESSION cte_max_recursion_depth = 4294967295, sql_mode = ''")
            for statement in statements:
                cursor.execute(statement)
                found = list(cursor.fetchall())
        return found

    def end(self, topic: str) -> int:
        found = self.admin.list_topics(timeout=60).topics.get(topic)
        if found is None:
            return 0
        asked = {TopicPartition(topic, p): OffsetSpec.latest() for p in found.partitions}  # type: ignore[no-untyped-call]
        return sum(answer.result(60).offset for answer in self.admin.list_offsets(asked).values())


def fill(site: Site, workload: Workload) -> str:
    """Make the table; the place in the log before its changes, or nothing."""
    table = f"bench.{workload.name.replace('-', '_')}"
    columns = ", ".join(f"{name} {type}" for name, type in workload.columns.items())
    values = ", ".join("n" if name == "id" else VALUES[type] for name, type in workload.columns.items())
    site.run("CREATE DATABASE IF NOT EXISTS bench", f"CREATE TABLE {table} ({columns}, PRIMARY KEY (id))")
    ((file, position, *_),) = site.run("SHOW MASTER STATUS")
    numbers = "WITH RECURSIVE r AS (SELECT {low} AS n UNION ALL SELECT n + 1 FROM r WHERE n + 1 < {high})"
    if not workload.rows:
        source = numbers.format(low=0, high=workload.messages)
        site.run(f"INSERT INTO {table} {source} SELECT {values} FROM r", f"ANALYZE TABLE {table}")
        return ""
    source = numbers.format(low="low", high="low + size")
    site.run(
        f"CREATE PROCEDURE bench.fill_{workload.name.replace('-', '_')}() BEGIN DECLARE low, size INT DEFAULT 0; "
        f"SET size = {workload.rows}; WHILE low < {workload.messages} DO "
        f"INSERT INTO {table} {source} SELECT {values} FROM r; SET low = low + size; END WHILE; END",
        f"CALL bench.fill_{workload.name.replace('-', '_')}()",
    )
    return f"{file}:{position}"


@contextmanager
def on_rowkind(site: Site, workload: Workload, topic: str, start: str) -> Iterator[subprocess.Popen[bytes]]:
    folder = site.folder / topic
    folder.mkdir()
    mode = "initial"
    if start:
        file, position = start.split(":")
        mode = f"specific-offset\n  scan.startup.specific-offset.file: {file}\n"
        mode += f"  scan.startup.specific-offset.pos: {position}"
    (folder / "job.yaml").write_text(f"""
source:
  type: mysql
  hostname: {site.server.host}
  port: {site.server.port}
  username: cdc
  password: cdc
  tables: bench.{workload.name.replace("-", "_")}
  server-id: 5401-5408
  server-time-zone: UTC
  scan.startup.mode: {mode}
sink:
  type: upsert-kafka
  properties.bootstrap.servers: {site.bootstrap}
  sink.topic.partitions: {PARTITIONS}
route:
  - source-table: bench.{workload.name.replace("-", "_")}
    sink-table: {topic}
""")
    command = [sys.executable, "-c", "from rowkind.cli import main; main()", "ingest", str(folder / "job.yaml")]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen([*command, "--checkpoint", str(folder / "kept")], stdout=log, stderr=log)
        try:
            yield process
        finally:
            process.terminate()
            process.wait(120)


@contextmanager
def on_flink(site: Site, workload: Workload, topic: str, start: str) -> Iterator[subprocess.Popen[bytes]]:
    columns = ", ".join(f"{name} {FLINK_TYPES.get(type, type)}" for name, type in workload.columns.items())
    columns += ", PRIMARY KEY (id) NOT ENFORCED"
    source = {
        "connector": "mysql-cdc",
        "hostname": site.server.host,
        "port": str(site.server.port),
        "username": "cdc",
        "password": "cdc",
        "database-name": "bench",
        "table-name": workload.name.replace("-", "_"),
        "server-time-zone": "UTC",
        "server-id": "5601-5608",
        "jdbc.properties.useSSL": "false",
        "jdbc.properties.allowPublicKeyRetrieval": "true",
        "scan.incremental.snapshot.chunk.size": str(CHUNK),
    }
    if start:
        file, position = start.split(":")
        source |= {"scan.startup.mode": "specific-offset", "scan.startup.specific-offset.file": file}
        source["scan.startup.specific-offset.pos"] = position
    sink = {
        "connector": "upsert-kafka",
        "topic": topic,
        "properties.bootstrap.servers": site.bootstrap,
        "key.format": "json",
        "value.format": "json",
    }
    create(site.bootstrap, topic, PARTITIONS)
    config = {
        "parallelism.default": str(os.cpu_count()),
        "execution.checkpointing.interval": "10 s",
        "execution.checkpointing.dir": f"file://{site.folder / topic}",
        "taskmanager.memory.managed.size": "256m",
    }
    request = {
        "config": config,
        "tables": [_ddl("source", columns, source), _ddl("sink", columns, sink)],
        "insert": "INSERT INTO `sink` SELECT * FROM `source`",
    }
    jars = os.pathsep.join(str(jar) for jar in fetch(HERE / "jars.lock", "Flink CDC"))
    with (site.folder / f"{topic}.log").open("wb") as log:
        process = subprocess.Popen(
            [HERE / ".venv/bin/python", HERE / "run_job.py"],
            env={**os.environ, "FLINK_JARS": jars},
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
        )
        assert process.stdin
        process.stdin.write(json.dumps(request).encode() + b"\n")
        process.stdin.flush()
        try:
            yield process
        finally:
            process.stdin.close()
            process.wait(120)


def _ddl(name: str, columns: str, options: dict[str, str]) -> str:
    given = ", ".join(f"'{key}' = '{value}'" for key, value in options.items())
    return f"CREATE TABLE `{name}` ({columns}) WITH ({given})"


ENGINES: dict[str, Callable[..., Any]] = {"rowkind": on_rowkind, "flink-cdc": on_flink}


def measure(site: Site, engine: str, workload: Workload, start: str, number: int) -> dict[str, Any]:
    topic = f"{workload.name}-{engine}-{number}"
    started = time.monotonic()
    first = None
    with ENGINES[engine](site, workload, topic, start) as process:
        while (there := site.end(topic)) < workload.messages:
            if there and first is None:
                first = time.monotonic(), there
            if process.poll() is not None or time.monotonic() - started > SECONDS:
                raise SystemExit(f"{engine} has not done {workload.name}: {there} of {workload.messages} messages")
            time.sleep(0.05)
        ended = time.monotonic()
    first = first or (ended, 0)
    took, flowing = ended - started, ended - first[0]
    return {
        "workload": workload.name,
        "engine": engine,
        "messages": workload.messages,
        "seconds": round(took, 1),
        "first_message": round(first[0] - started, 1),
        "rows_per_second": round(workload.messages / took),
        "steady": round((workload.messages - first[1]) / flowing) if flowing > 0.5 else None,
    }


def compare(site: Site, workload: Workload, engines: list[str], runs: int) -> None:
    start = fill(site, workload)
    best: dict[str, dict[str, Any]] = {}
    for number in range(runs):
        for engine in engines:
            found = measure(site, engine, workload, start, number)
            print(json.dumps(found), flush=True)
            if engine not in best or found["rows_per_second"] > best[engine]["rows_per_second"]:
                best[engine] = found
    if len(best) == len(ENGINES):
        mine, theirs = best["rowkind"], best["flink-cdc"]
        ratios = {
            kind: round(mine[kind] / theirs[kind], 2)
            for kind in ("rows_per_second", "steady")
            if mine[kind] and theirs[kind]
        }
        print(json.dumps({"workload": workload.name, "cores": os.cpu_count(), "ratios": ratios}), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--only", nargs="*")
    parser.add_argument("--engines", nargs="*", choices=ENGINES, default=list(ENGINES))
    given = parser.parse_args()
    settings = {"innodb-buffer-pool-size": "512M"}
    with (
        TemporaryDirectory() as folder,
        Broker.start(jvm=BROKER_JVM) as broker,
        DatabaseServer.start(Flavor.MYSQL, settings) as server,
    ):
        admin = AdminClient({"bootstrap.servers": broker.bootstrap, "log_level": 2})
        site = Site(server, broker.bootstrap, Path(folder), admin)
        site.run(
            "CREATE USER 'cdc'@'%' IDENTIFIED WITH mysql_native_password BY 'cdc'",
            "GRANT SELECT, SHOW DATABASES, REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO 'cdc'@'%'",
        )
        for workload in workloads(given.scale):
            if not given.only or workload.name in given.only:
                compare(site, workload, given.engines, given.runs)


if __name__ == "__main__":
    main()
