"""`rowkind ingest` under kill -9 of its workers, its driver and its database, while tables are copied and followed.

Every life of the job copies a table that is new and follows all others, so kills come in both phases. In the end each
topic equals its table key by key, and nothing was written twice. `ROWKIND_KILLS` sets how many kills a server gets.
"""

from __future__ import annotations

import json
import os
import random
import signal
import threading
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import pymysql
import pytest

from rowkind.broker.process import wait_until
from rowkind.demo_servers.database import DatabaseServer
from rowkind.demo_servers.database_programs import Flavor
from tests.cli.command import started
from tests.connectors.mysql.conftest import Database, opened
from tests.e2e.ingestion.intake import JOB, Churn, Intake, create
from tests.faults.processes import kill, workers
from tests.kafka_client import KafkaClient

pytestmark = [pytest.mark.matrix, pytest.mark.fault, pytest.mark.kafka, pytest.mark.database]

KILLS = int(os.environ.get("ROWKIND_KILLS", "15"))
SEED = int(os.environ.get("ROWKIND_SEED", random.SystemRandom().randrange(10**6)))
ROWS, CHUNK = 30_000, 50
LONGEST_LIFE = 3.0
"""Seconds that a job may go on before the next kill."""
COUNTED = 200
FIRST = ("a_counted", "a_late")
"""Small tables that are copied in the first batch: what they are written to has each of their changes just once.

Of a table that is copied in several batches, a change may be written that the copy of its chunk then shows again.
"""


@pytest.mark.parametrize("flavor", list(Flavor))
def test_kills_lose_nothing_and_double_nothing(
    flavor: Flavor, kafka_client: KafkaClient, tmp_path: Path, record_property: Any
) -> None:
    print(f"ROWKIND_SEED={SEED}")
    with DatabaseServer.start(flavor) as server:
        for db in opened(server):
            done = _Torment(db, kafka_client, tmp_path, random.Random(SEED)).all()
            record_property("faults survived", sum(done.values()))
            print(json.dumps(done))


class _Load(threading.Thread):
    """Changes all the time, large transactions among them; goes on when the server was killed."""

    def __init__(self, db: Database, rng: random.Random) -> None:
        super().__init__(daemon=True)
        self._db = db
        self._rng = rng
        self._over = threading.Event()
        self._fresh = count()

    def run(self) -> None:
        while not self._over.is_set():
            try:
                self._until_it_breaks()
            except (pymysql.MySQLError, OSError):
                self._over.wait(0.1)

    def _until_it_breaks(self) -> None:
        connection = pymysql.connect(host=self._db.server.host, port=self._db.server.port, user="root")
        churn = Churn(self._db, self._rng, ("changed",), connection=connection)
        with connection.cursor() as cursor:
            while not self._over.wait(0.1):
                churn.changes(1)
                low = self._rng.randrange(COUNTED)
                high = low + self._rng.choice((1, 5, COUNTED))
                cursor.execute(f"UPDATE {self._db.name}.a_counted SET n = n + 1 WHERE id BETWEEN {low} AND {high}")
                ids = [next(self._fresh) for _ in range(self._rng.choice((1, 10, 300)))]
                rows = ",".join(f"({id}, '{'y' * 100}', 1)" for id in ids)
                cursor.execute(f"INSERT INTO {self._db.name}.a_late VALUES {rows}")
                connection.commit()

    def end(self) -> None:
        self._over.set()
        if self.is_alive():
            self.join()


@dataclass
class _Torment:
    db: Database
    kafka: KafkaClient
    folder: Path
    rng: random.Random
    done: Counter[str] = field(default_factory=Counter)
    lives: int = 0

    def all(self) -> Counter[str]:
        create(self.db, "changed", *FIRST)
        Churn(self.db, self.rng, ("changed",)).fill("changed", 600)
        Churn(self.db, self.rng, ("a_counted",), most=COUNTED).fill("a_counted", COUNTED)
        self._fill("added_0")
        self.intake = Intake(None, self.kafka, self.db, "")  # type: ignore[arg-type]
        self.command = ingestion_command(self.folder, self.intake)
        load = _Load(self.db, self.rng)
        try:
            while sum(self.done.values()) < KILLS:
                for killed in self._one_life(load):
                    self.done[killed] += 1
                    print(self.lives, killed, flush=True)
        finally:
            load.end()
        self._finish()
        return self.done

    def _one_life(self, load: _Load) -> Iterator[str]:
        self.lives += 1
        if self.lives > 1:
            self._fill(f"added_{self.lives - 1}")
        before = self._written()
        with started(self.folder / f"life-{self.lives}", *self.command) as running:
            if self.lives == 1:  # what must be copied in the first batch has been
                running.until(self._written)
                load.start()
            elif self.rng.random() < 0.5:
                running.until(lambda: self._written() > before)
            else:  # while it starts, or runs the batch of before again
                running.until(lambda: workers(running.process.pid))
            for _ in range(self.rng.randint(1, 3)):
                wait_until(lambda: False, self.rng.uniform(0.0, LONGEST_LIFE))
                if self.rng.random() < 0.5:
                    yield from self._without_server()
                else:
                    victims = workers(running.process.pid)
                    kill(victims)
                    if victims:
                        yield "workers"
            wait_until(lambda: False, self.rng.uniform(0.0, LONGEST_LIFE))
            assert running.process.poll() is None, f"it ended: {running.err}"
            running.signal(signal.SIGKILL)
            running.wait()
            yield "driver"

    def _without_server(self) -> Iterator[str]:
        self.db.server.kill()
        yield "database"
        wait_until(lambda: False, self.rng.uniform(0.0, 1.0))
        self.db.server.restart()
        self.db.reconnect()

    def _fill(self, table: str) -> None:
        create(self.db, table)
        for low in range(0, ROWS, 10_000):
            rows = ",".join(f"({id}, 'early {id}', 1)" for id in range(low, low + 10_000))
            self.db.run(f"INSERT INTO {self.db.name}.{table} VALUES {rows}")

    def _written(self) -> int:
        topic = f"{self.db.name}.a_counted"
        there = self.kafka.admin.list_topics(timeout=60).topics
        return sum(self.kafka.end_offsets(topic).values()) if topic in there else 0

    def _finish(self) -> None:
        """One more life in peace, then all that has been written is looked at."""
        added = [f"added_{life}" for life in range(self.lives)]
        with started(self.folder / "last", *self.command) as running:
            for table in (*FIRST, "changed", *added):
                topic, wanted = f"{self.db.name}.{table}", self.intake.rows(table)
                running.until(lambda topic=topic, wanted=wanted: self.intake.compacted(topic) == wanted)  # type: ignore[misc]
            running.signal(signal.SIGINT)
            assert running.wait() == 0, running.err
        for table in ("a_late", *added):
            times = Counter(record.key for record in self.intake.records(f"{self.db.name}.{table}"))
            assert set(times.values()) == {1}, (table, times.most_common(3))
        self._check_counts()

    def _check_counts(self) -> None:
        """Each change of a counter is there once, in order."""
        seen: dict[bytes | None, list[int]] = {}
        for record in self.intake.records(f"{self.db.name}.a_counted"):
            assert record.value is not None
            seen.setdefault(record.key, []).append(json.loads(record.value)["n"])
        for key, numbers in seen.items():
            assert numbers == list(range(numbers[0], numbers[0] + len(numbers))), (key, numbers)


def ingestion_command(folder: Path, intake: Intake, chunk: int = CHUNK) -> list[str]:
    values = {
        "db.host": intake.db.server.host,
        "db.port": str(intake.db.server.port),
        "db.tables": rf"{intake.db.name}.\.*",
        "db.user": "root",
        "sink.type": "upsert-kafka",
        "kafka": intake.kafka.bootstrap,
        "chunk.size": str(chunk),
    }
    new_tables = "  scan.newly-added-table.enabled: true\n"
    exactly_once = "  sink.delivery-guarantee: exactly-once\n"
    (folder / "job.yaml").write_text(JOB.replace("SOURCE\n", new_tables).replace("SINK\n", exactly_once))
    (folder / "secrets").write_text("password: ''\n")
    (folder / "secrets").chmod(0o600)
    given = [part for name, value in values.items() for part in ("--var", f"{name}={value}")]
    job = ["ingest", str(folder / "job.yaml"), "--checkpoint", str(folder / "kept")]
    return [*job, *given, "--secrets", str(folder / "secrets")]
