"""Tables into topics while they are changed: final topics equal the tables, key by key."""

from __future__ import annotations

import json
import os
import random
import threading
from typing import TYPE_CHECKING

import pytest

from rowkind.demo_servers.database_programs import Flavor
from rowkind.errors import RowkindError
from rowkind.runtime.driver.job import Status
from tests.e2e.ingestion.intake import SECONDS, Churn, Intake, create

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.database]

SEED = int(os.environ.get("ROWKIND_SEED", random.SystemRandom().randrange(10**6)))


@pytest.mark.parametrize("intake", list(Flavor), indirect=True)
def test_topics_follow_tables_that_change_all_the_time(intake: Intake) -> None:
    """Copied in small chunks under changes, stopped and resumed in between, with changes while it rests."""
    print(f"ROWKIND_SEED={SEED}")
    db, tables = intake.db, ("a", "b")
    create(db, *tables)
    churn = Churn(db, random.Random(SEED), tables)
    for table in tables:
        churn.fill(table, 600)
    changing = threading.Thread(target=churn.changes, args=(300,))
    changing.start()
    intake.chunk_size = 40
    job = intake.start(sink="sink.delivery-guarantee: exactly-once")
    intake.until(lambda: job.progress.rows_in > 200, "rows of the first chunks")
    intake.stop(job)
    changing.join()
    churn.changes(50)
    intake.start(sink="sink.delivery-guarantee: exactly-once")
    for table in tables:
        intake.until_equal(table)
    churn.changes(50)
    for table in tables:
        intake.until_equal(table)


def test_a_change_of_a_key_is_a_tombstone_and_a_value(intake: Intake) -> None:
    create(intake.db, "t")
    intake.db.run(f"INSERT INTO {intake.db.name}.t VALUES (1, 'one', 1), (2, 'two', 2)")
    intake.start(sink="sink.add-tableId-to-header-enabled: true")
    intake.until_equal("t")
    topic = f"{intake.db.name}.t"
    before = len(intake.records(topic))
    intake.db.run(
        f"UPDATE {intake.db.name}.t SET n = 5 WHERE id = 1",
        f"UPDATE {intake.db.name}.t SET id = 7 WHERE id = 2",
        f"DELETE FROM {intake.db.name}.t WHERE id = 1",
    )
    intake.until_equal("t")
    written = intake.records(topic)[before:]
    by_key = {key: [r.value for r in written if r.key == key] for key in {r.key for r in written}}
    assert by_key == {
        b'{"id":1}': [b'{"id":1,"name":"one","n":5}', None],
        b'{"id":2}': [None],
        b'{"id":7}': [b'{"id":7,"name":"two","n":2}'],
    }
    headers = (("namespace", b""), ("schemaName", intake.db.name.encode()), ("tableName", b"t"))
    assert {r.headers for r in written} == {headers}


def test_changes_of_a_schema_are_followed(intake: Intake) -> None:
    """LENIENT: a new column comes last, a dropped one stays and is NULL; also when the job rests meanwhile."""
    db = intake.db
    create(db, "t")
    db.run(f"INSERT INTO {db.name}.t VALUES (1, 'one', 1)")
    job = intake.start()
    intake.until_equal("t")
    db.run(
        f"ALTER TABLE {db.name}.t ADD COLUMN extra INT AFTER id",
        f"INSERT INTO {db.name}.t VALUES (2, 20, 'two', 2)",
    )
    topic = f"{db.name}.t"
    intake.until(lambda: len(intake.compacted(topic)) == 2, "a row with the new column")
    intake.stop(job)
    db.run(
        f"INSERT INTO {db.name}.t VALUES (3, 30, 'three', 3)",
        f"ALTER TABLE {db.name}.t DROP COLUMN n",
        f"INSERT INTO {db.name}.t VALUES (4, 40, 'four')",
        f"TRUNCATE {db.name}.t",
        f"INSERT INTO {db.name}.t VALUES (5, 50, 'five')",
    )
    intake.start()
    intake.until(lambda: '{"id":5}' in intake.compacted(topic), "a row after all changes")
    texts = {r.key: r.value for r in intake.records(topic)}
    assert texts[b'{"id":2}'] == b'{"id":2,"name":"two","n":2,"extra":20}'
    assert texts[b'{"id":3}'] == b'{"id":3,"name":"three","n":3,"extra":30}'
    assert texts[b'{"id":4}'] == b'{"id":4,"name":"four","n":null,"extra":40}'
    assert texts[b'{"id":5}'] == b'{"id":5,"name":"five","n":null,"extra":50}'
    assert any("truncated" in note for note in intake.notes)


def test_routes_and_transforms(intake: Intake) -> None:
    """Two tables into one topic by a route; a projection, and a filter that rows leave and enter."""
    db = intake.db
    create(db, "orders_1", "orders_2", "people")
    db.run(
        f"INSERT INTO {db.name}.orders_1 VALUES (1, 'bolt', 1)",
        f"INSERT INTO {db.name}.orders_2 VALUES (2, 'nut', 2)",
        f"INSERT INTO {db.name}.people VALUES (1, 'ada', 1), (2, 'bo', 2), (3, 'cy', 3)",
    )
    rest = rf"""
route:
  - source-table: ${{db.name}}.orders_\.*
    sink-table: {db.name}-orders
transform:
  - source-table: ${{db.name}}.people
    projection: \*, UPPER(name) AS big, __table_name__ AS origin
    filter: n <> 2
"""
    intake.start(rest=rest)
    people = f"{db.name}.people"
    intake.until(lambda: len(intake.compacted(people)) == 2, "people who pass")
    intake.until(lambda: len(intake.compacted(f"{db.name}-orders")) == 2, "orders of both tables")
    db.run(
        f"UPDATE {db.name}.people SET n = 2 WHERE id = 1",
        f"UPDATE {db.name}.people SET n = 4 WHERE id = 2",
        f"UPDATE {db.name}.people SET name = 'cyd' WHERE id = 3",
    )
    wanted = {
        '{"id":2}': {"id": 2, "name": "bo", "n": 4, "big": "BO", "origin": "people"},
        '{"id":3}': {"id": 3, "name": "cyd", "n": 3, "big": "CYD", "origin": "people"},
    }
    intake.until(lambda: intake.compacted(people) == wanted, "people after the changes")


def test_a_job_is_tried_without_a_broker(intake: Intake) -> None:
    """What would be written, passed on and computed, with the kinds of its rows; an update of a key is two messages."""
    db = intake.db
    create(db, "t", "u")
    db.run(
        f"INSERT INTO {db.name}.t VALUES (1, 'one', 1), (2, 'two', 2)", f"INSERT INTO {db.name}.u VALUES (1, 'ü', 1)"
    )
    rest = r"""
route:
  - source-table: ${db.name}.t
    sink-table: things
transform:
  - source-table: ${db.name}.u
    projection: id, UPPER(name) AS big
"""
    sink = "sink.add-tableId-to-header-enabled: true\nprint-identifier: try"
    job = intake.start(sink=sink, rest=rest, type="print")
    intake.until(lambda: len(intake.shown) == 3, "the rows of both tables")
    db.run(
        f"UPDATE {db.name}.t SET n = 5 WHERE id = 1",
        f"UPDATE {db.name}.t SET id = 7 WHERE id = 2",
        f"DELETE FROM {db.name}.u WHERE id = 1",
    )
    intake.until(lambda: len(intake.shown) == 7, "the changes")
    t, headers = f"{db.name}.t -> things", "namespace= schemaName= tableName=things"
    u, of_u = f"{db.name}.u -> {db.name}.u", f"namespace= schemaName={db.name} tableName=u"
    assert sorted(intake.shown[:3]) == [
        f'try> +I {t} {{"id":1}} {{"id":1,"name":"one","n":1}} {headers}',
        f'try> +I {t} {{"id":2}} {{"id":2,"name":"two","n":2}} {headers}',
        f'try> +I {u} {{"id":1}} {{"id":1,"big":"Ü"}} {of_u}',
    ]
    assert sorted(intake.shown[3:]) == [
        f'try> +U {t} {{"id":1}} {{"id":1,"name":"one","n":5}} {headers}',
        f'try> +U {t} {{"id":7}} {{"id":7,"name":"two","n":2}} {headers}',
        f'try> -D {u} {{"id":1}} null {of_u}',
        f'try> -U {t} {{"id":2}} null {headers}',
    ]
    assert "things" not in intake.kafka.admin.list_topics(timeout=60).topics
    assert [note for note in intake.notes if "no effect" in note] == []
    intake.until(lambda: job.metrics["sink"]["things"]["things"]["numRecordsOut"] == 5, "the metrics of the last batch")


def test_a_snapshot_ends(intake: Intake) -> None:
    create(intake.db, "t")
    Churn(intake.db, random.Random(1), ("t",)).fill("t", 500)
    job = intake.start(source="scan.startup.mode: snapshot")
    assert job.wait(SECONDS)
    assert job.status is Status.FINISHED
    assert intake.compacted(f"{intake.db.name}.t") == intake.rows("t")
    source = job.metrics["source"][f"{intake.db.name}.t"][f"{intake.db.name}.t"]
    assert source["numRecordsIn"] == 500
    assert job.details[0] == "  all 1 tables are copied"
    assert job.details[-1] == f"  {intake.db.name}.t: 500 rows in, 500 out"
    assert job.metrics["table"][f"{intake.db.name}.t"]["isStreamReading"] == 1


def test_functions_see_the_zone_of_the_job(intake: Intake) -> None:
    db = intake.db
    db.run(f"CREATE TABLE {db.name}.t (id INT PRIMARY KEY, at TIMESTAMP NULL)")
    db.run("SET time_zone = '+00:00'", f"INSERT INTO {db.name}.t VALUES (1, '2024-03-01 20:00:00')")
    rest = r"""
transform:
  - source-table: ${db.name}.t
    projection: id, at, DATE_FORMAT(at, 'yyyy-MM-dd HH:mm') AS there
pipeline:
  local-time-zone: Asia/Shanghai
"""
    intake.start(rest=rest, type="print")
    intake.until(lambda: len(intake.shown) == 1, "the row")
    assert intake.shown[0].endswith('{"id":1,"at":"2024-03-01 20:00:00Z","there":"2024-03-02 04:00"}')


def test_no_secret_is_left_behind(intake: Intake, tmp_path: Path) -> None:
    create(intake.db, "t")
    intake.db.run(f"INSERT INTO {intake.db.name}.t VALUES (1, 'one', 1)")
    intake.db.run(
        "CREATE USER IF NOT EXISTS 'intake'@'%' IDENTIFIED BY 'swordfish-42'", "GRANT ALL ON *.* TO 'intake'@'%'"
    )
    job = intake.start(user="intake", password="swordfish-42")
    intake.until_equal("t")
    intake.stop(job)
    with pytest.raises(RowkindError) as refused:
        intake.start(user="intake", password="sword-of-damocles").wait(SECONDS)
    assert refused.value.condition == "MYSQL_LOGIN"
    shown = [str(refused.value), repr(job), json.dumps(intake.notes), json.dumps(job.metrics)]
    kept = [path.read_bytes().decode("latin-1") for path in tmp_path.rglob("*") if path.is_file()]
    assert kept
    assert [text for text in (*shown, *kept) if "swordfish" in text or "damocles" in text] == []
