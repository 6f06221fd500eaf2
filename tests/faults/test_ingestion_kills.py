"""`rowkind ingest` killed at random, while tables are copied and followed: topics equal tables, nothing twice.

`ROWKIND_KILLS` sets how often; `make faults` kills six times.
"""

from __future__ import annotations

import os
import random
import signal
import threading
from collections import Counter
from pathlib import Path

import pytest

from rowkind.broker.process import wait_until
from rowkind.demo_servers.database_programs import Flavor
from tests.cli.command import Command, started
from tests.conftest import run_owner
from tests.connectors.mysql.conftest import Database, opened
from tests.e2e.ingestion.intake import JOB, Churn, Intake, create
from tests.kafka_client import KafkaClient
from tests.servers.databases import database

pytestmark = [pytest.mark.matrix, pytest.mark.fault, pytest.mark.kafka, pytest.mark.database]

KILLS = int(os.environ.get("ROWKIND_KILLS", "6"))
SEED = int(os.environ.get("ROWKIND_SEED", random.SystemRandom().randrange(10**6)))
ROWS = 2000


@pytest.mark.parametrize("flavor", list(Flavor))
def test_kills_lose_nothing_and_double_nothing(
    flavor: Flavor, run_folder: Path, kafka_client: KafkaClient, tmp_path: Path
) -> None:
    print(f"ROWKIND_SEED={SEED}")
    for db in opened(database(flavor, run_folder, run_owner())):
        _survive(db, kafka_client, tmp_path)


def _survive(db: Database, kafka_client: KafkaClient, folder: Path) -> None:
    rng = random.Random(SEED)
    create(db, "changed", "added")
    churn, adding = Churn(db, rng, ("changed",)), Churn(db, rng, ("added",), most=ROWS)
    churn.fill("changed", 600)
    adding.fill("added", ROWS // 2)
    intake = Intake(None, kafka_client, db, "")  # type: ignore[arg-type]
    command = _command(folder, intake)
    stopped = threading.Event()
    writing = threading.Thread(target=_write, args=(churn, stopped))
    writing.start()
    try:
        for turn in range(KILLS):
            with started(folder / f"o{turn}", *command) as running:
                _after(running, intake, rng.uniform(0.0, 4.0))
                running.signal(signal.SIGKILL)
                running.wait()
    finally:
        stopped.set()
        writing.join()
    known = set(intake.rows("added"))
    with adding.connection.cursor() as cursor:
        fresh = [(id, "late", 1) for id in range(ROWS) if f'{{"id":{id}}}' not in known]
        cursor.executemany(f"INSERT INTO {db.name}.added VALUES (%s, %s, %s)", fresh)
    wanted = {f"{db.name}.{table}": intake.rows(table) for table in ("changed", "added")}
    with started(folder / "last", *command) as running:
        running.until(lambda: all(intake.compacted(topic) == rows for topic, rows in wanted.items()))
        running.signal(signal.SIGINT)
        running.wait()
    times = Counter(record.key for record in intake.records(f"{db.name}.added"))
    assert len(times) == ROWS
    assert set(times.values()) == {1}


def _command(folder: Path, intake: Intake) -> list[str]:
    values = {
        "db.host": intake.db.server.host,
        "db.port": str(intake.db.server.port),
        "db.tables": rf"{intake.db.name}.\.*",
        "db.user": "root",
        "kafka": intake.kafka.bootstrap,
        "chunk.size": "50",
    }
    exactly_once = "  sink.delivery-guarantee: exactly-once\n"
    (folder / "job.yaml").write_text(JOB.replace("SOURCE\n", "").replace("SINK\n", exactly_once))
    (folder / "secrets").write_text("password: ''\n")
    (folder / "secrets").chmod(0o600)
    given = [part for name, value in values.items() for part in ("--var", f"{name}={value}")]
    job = ["ingest", str(folder / "job.yaml"), "--checkpoint", str(folder / "kept")]
    return [*job, *given, "--secrets", str(folder / "secrets")]


def _after(running: Command, intake: Intake, seconds: float) -> None:
    """Wait until this run has written something, and a while longer."""
    topic = f"{intake.db.name}.changed"

    def written() -> int:
        there = intake.kafka.admin.list_topics(timeout=60).topics
        return sum(intake.kafka.end_offsets(topic).values()) if topic in there else 0

    before = written()
    running.until(lambda: written() > before)
    wait_until(lambda: False, seconds)


def _write(churn: Churn, stopped: threading.Event) -> None:
    while not stopped.wait(0.01):
        churn.changes(1)
