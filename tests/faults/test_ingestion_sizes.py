"""Ingestion at sizes that must not matter: a huge transaction, a table larger than memory, hundreds of tables."""

from __future__ import annotations

import json
import statistics
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from rowkind.broker.process import wait_until
from rowkind.demo_servers.database import DatabaseServer
from rowkind.demo_servers.database_programs import Flavor
from tests.cli.command import started
from tests.connectors.mysql.conftest import Database, opened
from tests.e2e.ingestion.intake import SECONDS, Intake
from tests.faults.processes import memory, workers
from tests.faults.test_ingestion_kills import ingestion_command
from tests.kafka_client import KafkaClient

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = [pytest.mark.matrix, pytest.mark.kafka, pytest.mark.database]

LIMIT = 1024
"""Megabytes that a worker may have."""
ROWS = 1_000_000
CHANGED = 3
ROUNDS = 15


class _Peak(threading.Thread):
    """The most memory that any worker of a command has had."""

    def __init__(self, session: int) -> None:
        super().__init__(daemon=True)
        self._session = session
        self._over = threading.Event()
        self.megabytes = 0.0

    def run(self) -> None:
        while not self._over.wait(0.1):
            self.megabytes = max([self.megabytes, *map(memory, workers(self._session))])

    def end(self) -> float:
        self._over.set()
        self.join()
        return self.megabytes


@pytest.fixture
def server() -> Iterator[Database]:
    with DatabaseServer.start(Flavor.MARIADB, {"innodb-buffer-pool-size": "256M"}) as started_server:
        yield from opened(started_server)


def test_a_table_of_a_gigabyte_and_a_huge_transaction(
    server: Database, kafka_client: KafkaClient, tmp_path: Path
) -> None:
    """A million rows of a kilobyte are copied, then half a million rows are changed at once."""
    db = server
    db.run("CREATE TABLE t (id INT PRIMARY KEY, v INT, text VARCHAR(1000))")
    db.run(f"INSERT INTO t SELECT seq, 0, REPEAT('x', 1000) FROM seq_1_to_{ROWS}")
    db.run("CREATE TABLE u (id INT PRIMARY KEY, v INT)", f"INSERT INTO u SELECT seq, 0 FROM seq_1_to_{ROWS // 2}")
    intake = Intake(None, kafka_client, db, "")  # type: ignore[arg-type]
    t, u = f"{db.name}.t", f"{db.name}.u"
    with started(tmp_path / "out", *ingestion_command(tmp_path, intake, chunk=8096)) as running:
        peak = _Peak(running.process.pid)
        peak.start()

        def written(topic: str) -> int:
            there = kafka_client.admin.list_topics(timeout=60).topics
            return sum(kafka_client.end_offsets(topic, committed=True).values()) if topic in there else 0

        running.until(lambda: written(t) >= ROWS and written(u) >= ROWS // 2)
        copied = peak.megabytes
        db.run("UPDATE u SET v = 1")
        running.until(lambda: written(u) >= ROWS)
        most = peak.end()
    print(json.dumps({"copying a gigabyte": round(copied), "and a transaction of 500,000 rows": round(most)}))
    assert most < LIMIT


@contextmanager
def _job_of(tables: int, spark: SparkSession, kafka: KafkaClient, server: Database, folder: Path) -> Iterator[Intake]:
    for db in opened(server.server):
        for number in range(tables):
            columns = ", ".join(f"c{n} INT" for n in range(10))
            db.run(f"CREATE TABLE t{number} (id INT PRIMARY KEY, {columns})", f"INSERT INTO t{number} (id) VALUES (1)")
        intake = Intake(spark, kafka, db, str(folder / f"of-{tables}"))
        yield intake
        intake.close()


def _seconds(
    tables: int, spark: SparkSession, kafka: KafkaClient, server: Database, folder: Path
) -> tuple[float, float]:
    """Until all tables are copied, and for a batch in which three of them changed."""
    with _job_of(tables, spark, kafka, server, folder) as intake:
        begun = time.monotonic()
        job = intake.start()
        intake.until(lambda: job.progress.rows_in >= tables, "all rows")
        copied = time.monotonic() - begun
        took = []
        for round in range(ROUNDS):
            wanted = job.progress.rows_out + CHANGED
            begun = time.monotonic()
            numbers = [(round * CHANGED + n) % tables for n in range(CHANGED)]
            intake.db.run("BEGIN", *(f"UPDATE t{n} SET c0 = {round + 1}" for n in numbers), "COMMIT")
            assert wait_until(lambda wanted=wanted: job.progress.rows_out >= wanted, SECONDS)  # type: ignore[misc]
            took.append(time.monotonic() - begun)
        intake.stop(job)
    return copied, statistics.median(took)


@pytest.mark.spark
def test_tables_that_did_not_change_cost_nothing(
    spark: SparkSession, server: Database, kafka_client: KafkaClient, tmp_path: Path
) -> None:
    _seconds(3, spark, kafka_client, server, tmp_path / "warm")
    few = _seconds(10, spark, kafka_client, server, tmp_path)
    many = _seconds(300, spark, kafka_client, server, tmp_path)
    print(json.dumps({"of 10 tables": few, "of 300 tables": many}))
    assert many[1] < 1.5 * few[1] + 0.1
