"""A database, a broker and ingestion jobs between them; what arrives is read by clients that share no code."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rowkind.broker.process import wait_until
from rowkind.ingest.description import IngestionJob
from rowkind.ingest.loading import parse_job
from rowkind.ingest.variables import Variables
from rowkind.runtime.driver.ingest.running import RunningIngestion
from rowkind.runtime.driver.job import Status
from tests.connectors.mysql.conftest import Database
from tests.kafka_client import KafkaClient, Record

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SECONDS = 180

JOB = """
source:
  type: mysql
  hostname: ${db.host}
  port: ${db.port}
  username: ${db.user}
  password: ${secret_values.password}
  tables: ${db.tables}
  server-id: 5400-5408
  server-time-zone: UTC
  scan.incremental.snapshot.chunk.size: ${chunk.size}
SOURCE
sink:
  type: ${sink.type}
  properties.bootstrap.servers: ${kafka}
  sink.topic.partitions: 2
SINK
"""


@dataclass
class Intake:
    spark: SparkSession
    kafka: KafkaClient
    db: Database
    checkpoint: str
    chunk_size: int = 100
    jobs: list[RunningIngestion] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    """By the sink `print`."""

    def start(
        self,
        source: str = "",
        sink: str = "",
        rest: str = "",
        user: str = "root",
        password: str = "",
        type: str = "upsert-kafka",
    ) -> RunningIngestion:
        """Start a job on all tables of the database, or go on with the one of before."""
        job = self.described(source, sink, rest, user, password, type)
        started = RunningIngestion(self.spark, job, self.notes.append, show=lambda lines, _: self.shown.extend(lines))
        self.jobs.append(started.start())
        return self.jobs[-1]

    def described(
        self,
        source: str = "",
        sink: str = "",
        rest: str = "",
        user: str = "root",
        password: str = "",
        type: str = "upsert-kafka",
    ) -> IngestionJob:
        """The job as its file says."""
        text = JOB.replace("SOURCE\n", _indented(source)).replace("SINK\n", _indented(sink)) + rest
        values = {
            "db.host": self.db.server.host,
            "db.port": str(self.db.server.port),
            "db.tables": rf"{self.db.name}.\.*",
            "db.user": user,
            "db.name": self.db.name,
            "kafka": self.kafka.bootstrap,
            "chunk.size": str(self.chunk_size),
            "sink.type": type,
        }
        secret = Variables(values, {"password": password}, {})
        return parse_job(text.replace("${db.name}", self.db.name), "job.yaml", secret, self.checkpoint)

    def stop(self, job: RunningIngestion) -> None:
        job.stop()
        assert job.wait(SECONDS)
        assert job.status in (Status.STOPPED, Status.FINISHED)

    def close(self) -> None:
        for job in self.jobs:
            job.stop()
            job._ended.wait(SECONDS)

    def until(self, condition: Callable[[], bool], what: str) -> None:
        def holds() -> bool:
            job = self.jobs[-1]
            if job.error is not None:
                raise job.error from job.cause
            return condition()

        assert wait_until(holds, SECONDS), what

    def until_equal(self, table: str, topic: str | None = None) -> None:
        """Wait until the topic, compacted, is what the table is."""
        wanted = self.rows(table)
        self.until(lambda: self.compacted(topic or f"{self.db.name}.{table}") == wanted, f"{table} in its topic")

    def rows(self, table: str) -> dict[str, Any]:
        """The rows of a table of an integer key `id`, a text, a number and perhaps more, as JSON would have them."""
        with self.db.connection.cursor() as cursor:
            cursor.execute(f"SELECT * FROM {self.db.name}.{table}")
            names = [column[0] for column in cursor.description]
            return {_key(row[0]): dict(zip(names, row, strict=True)) for row in cursor.fetchall()}

    def records(self, topic: str) -> list[Record]:
        return self.kafka.consume_all(topic)

    def compacted(self, topic: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for record in self.records(topic):
            assert record.key is not None
            key = record.key.decode()
            if record.value is None:
                found.pop(key, None)
            else:
                found[key] = json.loads(record.value)
        return found


def _key(id: Any) -> str:
    return json.dumps({"id": id}, separators=(",", ":"))


def _indented(text: str) -> str:
    return "".join(f"  {line.strip()}\n" for line in text.strip().splitlines())


@dataclass
class Churn:
    """Random changes of tables with the columns id, name, n: inserts, updates, deletes, changed keys."""

    db: Database
    rng: random.Random
    tables: tuple[str, ...]
    most: int = 1000
    connection: Any = None

    def __post_init__(self) -> None:
        self.connection = self.db.connect()

    def fill(self, table: str, rows: int) -> None:
        with self.connection.cursor() as cursor:
            ids = self.rng.sample(range(self.most), rows)
            values = [(id, f"name {id}", id % 7) for id in ids]
            cursor.executemany(f"INSERT INTO {self.db.name}.{table} (id, name, n) VALUES (%s, %s, %s)", values)

    def changes(self, transactions: int) -> None:
        for _ in range(transactions):
            with self.connection.cursor() as cursor:
                cursor.execute("BEGIN")
                for _ in range(self.rng.randint(1, 5)):
                    cursor.execute(*self._statement(f"{self.db.name}.{self.rng.choice(self.tables)}"))
                cursor.execute(self.rng.choices(("COMMIT", "ROLLBACK"), (9, 1))[0])

    def _statement(self, table: str) -> tuple[str, tuple[Any, ...]]:
        id, other = self.rng.randrange(self.most), self.rng.randrange(self.most)
        text = self.rng.choice(("", "a", "ü", "'\"\\", "漢字", "x" * 300))
        match self.rng.randrange(6):
            case 0:
                return f"INSERT IGNORE INTO {table} (id, name, n) VALUES (%s, %s, %s)", (id, text, other)
            case 1:
                return f"REPLACE INTO {table} (id, name, n) VALUES (%s, %s, NULL)", (id, text)
            case 2:
                return f"DELETE FROM {table} WHERE id = %s", (id,)
            case 3:
                return f"UPDATE IGNORE {table} SET id = %s WHERE id = %s", (other, id)
            case 4:
                return f"UPDATE {table} SET n = n + 1 WHERE id BETWEEN %s AND %s", (id, id + 20)
        return f"UPDATE {table} SET name = %s WHERE id = %s", (text, id)


def create(db: Database, *tables: str, extra: Mapping[str, str] | None = None) -> None:
    for table in tables:
        more = "".join(f", {name} {type}" for name, type in (extra or {}).items())
        db.run(f"CREATE TABLE {db.name}.{table} (id INT PRIMARY KEY, name VARCHAR(400), n BIGINT{more})")
