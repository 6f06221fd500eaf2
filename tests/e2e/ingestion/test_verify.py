"""`rowkind ingest --verify`: topics that are what their tables are, and keys that are not."""

from __future__ import annotations

import json

import pytest

from rowkind.errors import RowkindError
from rowkind.ingest.loading import parse_job
from rowkind.ingest.variables import Variables
from rowkind.runtime.driver.ingest.verifying import Verified, Verifier
from tests.e2e.ingestion.intake import Intake, create

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.database]

REST = r"""
route:
  - source-table: ${db.name}.orders_\.*
    sink-table: ${db.name}-orders
transform:
  - source-table: ${db.name}.people
    projection: \*, UPPER(name) AS big, __data_event_type__ AS kind
    filter: n <> 2
"""


def verified(intake: Intake, rest: str = "") -> dict[str, Verified]:
    notes: list[str] = []
    found = {each.topic: each for each in Verifier(intake.spark, intake.described(rest=rest), notes.append).topics()}
    assert notes == []
    return found


def test_topics_are_compared_with_their_tables(intake: Intake) -> None:
    """Passed on and computed, two tables in one topic, updated, deleted, with a column that came later."""
    db = intake.db
    create(db, "orders_1", "orders_2", "people")
    for number, table in enumerate(("orders_1", "orders_2", "people")):
        rows = ", ".join(f"({id + 1000 * number}, 'name {id}', {id % 5})" for id in range(300))
        db.run(f"INSERT INTO {db.name}.{table} VALUES {rows}")
    job = intake.start(rest=REST)
    orders, people = f"{db.name}-orders", f"{db.name}.people"
    intake.until(lambda: len(intake.compacted(orders)) == 600, "all orders")
    db.run(f"ALTER TABLE {db.name}.people ADD COLUMN extra INT")
    db.run(f"UPDATE {db.name}.people SET n = 4 WHERE id < 2050", f"DELETE FROM {db.name}.orders_1 WHERE id < 10")
    found = verified(intake, REST)
    assert {topic: (each.rows, each.differences) for topic, each in found.items()} == {
        orders: (590, ()),
        people: (250, ()),
    }
    intake.stop(job)
    another = {"id": 20, "name": "another", "n": 0}
    intake.kafka.produce(orders, [('{"id":20}', json.dumps(another)), ('{"id":5000}', json.dumps({"id": 5000}))])
    intake.kafka.produce(people, [('{"id":2299}', None)])
    found = verified(intake, REST)
    told = {(d.key, d.expected, d.found) for d in found[orders].differences}
    assert told == {
        ('{"id":20}', '{"id":20,"name":"name 20","n":0}', '{"id": 20, "name": "another", "n": 0}'),
        ('{"id":5000}', None, '{"id": 5000}'),
    }
    (gone,) = found[people].differences
    assert (gone.key, gone.found) == ('{"id":2299}', None)


def test_there_must_be_topics(intake: Intake) -> None:
    job = parse_job(
        "source:\n  type: mysql\n  hostname: a\n  username: b\n  password: c\n  tables: a.b\nsink:\n  type: print\n",
        "job.yaml",
        Variables(),
    )
    with pytest.raises(RowkindError) as refused:
        Verifier(intake.spark, job, print)
    assert refused.value.condition == "INGEST_NOTHING_TO_VERIFY"
