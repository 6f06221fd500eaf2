"""Jobs whose server goes away, whose tables come back as others, and whose topics or tables do not suit."""

from __future__ import annotations

from collections import Counter

import pytest

from rowkind.broker import Broker
from rowkind.errors import RowkindError
from tests.e2e.ingestion.intake import SECONDS, Intake, create
from tests.kafka_client import KafkaClient
from tests.servers.databases import killed_and_restarted
from tests.servers.shared import TEST_CONFIG

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.database]


def test_a_job_waits_for_its_server_and_follows_what_came_back(intake: Intake) -> None:
    """Killed under a job that copies: each row is written once. Then tables that are new, and one that came again."""
    db = intake.db
    create(db, "t", "u")
    db.run("INSERT INTO t VALUES " + ",".join(f"({id}, 'row', 1)" for id in range(600)))
    intake.chunk_size = 2
    job = intake.start(sink="sink.delivery-guarantee: exactly-once")
    intake.until(lambda: job.progress.rows_in > 0, "the first chunks")
    with killed_and_restarted(db.server):
        intake.until(lambda: any("The job waits" in note for note in intake.notes), "a note that it waits")
    db.reconnect()
    db.run("INSERT INTO u VALUES (1, 'one', 1)", "INSERT INTO u VALUES (2, 'two', 2)")
    for table in ("t", "u"):
        intake.until_equal(table)
    assert any("The job goes on" in note for note in intake.notes)
    times = Counter(record.key for record in intake.records(f"{db.name}.t"))
    assert len(times) == 600
    assert set(times.values()) == {1}
    intake.stop(job)
    db.run("DROP TABLE u", f"CREATE TABLE {db.name}.u (id INT PRIMARY KEY, other INT, name VARCHAR(9))")
    create(db, "fresh")
    db.run("INSERT INTO u VALUES (2, 20, 'zwei'), (3, 30, 'drei')", "INSERT INTO fresh VALUES (1, 'f', 1)")
    given = {"source": "scan.newly-added-table.enabled: true", "sink": "sink.delivery-guarantee: exactly-once"}
    intake.start(**given)
    intake.until_equal("fresh")
    topic = f"{db.name}.u"
    intake.until(lambda: len(intake.compacted(topic)) == 3, "rows of the new table beside those of the dropped one")
    assert intake.compacted(topic) == {
        '{"id":1}': {"id": 1, "name": "one", "n": 1},
        '{"id":2}': {"id": 2, "name": "zwei", "n": None, "other": 20},
        '{"id":3}': {"id": 3, "name": "drei", "n": None, "other": 30},
    }
    db.run("ALTER TABLE u DROP PRIMARY KEY, ADD PRIMARY KEY (other)", "INSERT INTO u VALUES (3, 31, 'drei')")
    with pytest.raises(RowkindError) as error:
        intake.until(lambda: False, "an error")
    assert error.value.condition == "INGEST_KEY_CHANGED"


def test_topics_and_tables_that_do_not_suit(intake: Intake) -> None:
    """A topic that was there and is not compacted: a warning that names the setting. A table without a key: refused."""
    db = intake.db
    create(db, "t")
    topic = f"{db.name}.t"
    intake.kafka.create_topic(topic, 3, **{"cleanup.policy": "delete"})
    job = intake.start()
    intake.until(lambda: any(topic in note and "cleanup.policy" in note for note in intake.notes), "a warning")
    intake.stop(job)
    assert len(intake.kafka.partitions(topic)) == 3
    db.run(f"CREATE TABLE {db.name}.keyless (id INT)")
    intake.checkpoint += "-2"
    with pytest.raises(RowkindError) as error:
        intake.start().wait(SECONDS)
    assert error.value.condition == "INGEST_TABLE_WITHOUT_KEY"
    assert f"{db.name}.keyless" in str(error.value)
    assert error.value.hint


@pytest.mark.matrix
@pytest.mark.parametrize("guarantee", ["at-least-once", "exactly-once"])
def test_a_broker_that_is_away(intake: Intake, guarantee: str) -> None:
    db = intake.db
    create(db, "t")
    db.run("INSERT INTO t VALUES (1, 'one', 1)")
    with Broker.start(config=TEST_CONFIG) as broker:
        intake.kafka = KafkaClient(broker.bootstrap)
        job = intake.start(sink=f"sink.delivery-guarantee: {guarantee}")
        intake.until_equal("t")
        broker.kill()
        db.run("UPDATE t SET n = 2", "INSERT INTO t VALUES (2, 'two', 2)")
        intake.until(lambda: job.standing["log"] != "", "changes that are seen")
        broker.restart()
        intake.until_equal("t")
        db.run("DELETE FROM t WHERE id = 1")
        intake.until_equal("t")
        intake.stop(job)
