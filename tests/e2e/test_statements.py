"""A script with every statement form."""

from __future__ import annotations

import pytest

from rowkind.errors import RowkindError
from rowkind.runtime.driver.session import Selection, Text
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SCRIPT = """
-- settings
SET 'execution.checkpointing.interval' = '1 s';
SET 'table.dml-sync' = 'true';
SET 'table.local-time-zone' = 'UTC';
SET;
RESET 'execution.checkpointing.interval';

/* tables: physical, computed and metadata columns, keys in both forms, watermark, comments */
CREATE TABLE IF NOT EXISTS events (
    `id` BIGINT NOT NULL COMMENT 'the id',
    `user name` STRING,
    tags ARRAY<STRING>,
    props MAP<STRING, INT>,
    place ROW<city STRING, geo ROW<lat DOUBLE, lon DOUBLE>>,
    at_ TIMESTAMP(3),
    shout AS UPPER(`user name`),
    part INT METADATA FROM 'partition' VIRTUAL,
    `offset` BIGINT METADATA VIRTUAL,
    WATERMARK FOR at_ AS at_ - INTERVAL '1' MINUTE
) COMMENT 'what happened' WITH ('connector' = 'kafka', 'topic' = '{events}', {kafka}, {json}, {once});
CREATE TABLE IF NOT EXISTS events (other INT) WITH ('connector' = 'kafka');
CREATE TEMPORARY TABLE latest (id BIGINT PRIMARY KEY NOT ENFORCED, name STRING, city STRING)
    WITH ('connector' = 'upsert-kafka', 'topic' = '{latest}', {kafka}, {keyed});
CREATE TABLE pairs (a BIGINT, b STRING, c INT, PRIMARY KEY (b, a) NOT ENFORCED)
    WITH ('connector' = 'upsert-kafka', 'topic' = '{pairs}', {kafka}, {keyed}, 'value.fields-include' = 'EXCEPT_KEY');
CREATE TABLE events_again WITH ('topic' = '{again}') LIKE events (
    EXCLUDING GENERATED EXCLUDING WATERMARKS EXCLUDING METADATA OVERWRITING OPTIONS);
CREATE TABLE gone (x INT) WITH ('connector' = 'kafka', 'topic' = 'x', {kafka}, {json});
CREATE VIEW IF NOT EXISTS named (id, who, city) COMMENT 'a view' AS
    SELECT id, shout, place.city FROM events WHERE `user name` IS NOT NULL;
CREATE VIEW in_berlin AS SELECT * FROM named WHERE city = 'Berlin';
CREATE TEMPORARY VIEW unused AS SELECT 1 AS one;
DROP VIEW unused;
DROP TABLE gone;
DROP TABLE IF EXISTS never;

SHOW TABLES;
SHOW VIEWS;
SHOW CREATE TABLE pairs;
SHOW CREATE VIEW in_berlin;
DESCRIBE events;
DESC named;
EXPLAIN INSERT INTO latest SELECT * FROM in_berlin;
EXPLAIN SELECT * FROM named;

INSERT INTO events_again (id, `user name`, at_) VALUES (1, 'values', TIMESTAMP '2024-01-01 00:00:00.5');
INSERT INTO pairs SELECT id, who, 1 FROM named;
EXECUTE STATEMENT SET BEGIN
    INSERT INTO latest SELECT id, who, city FROM in_berlin;
    INSERT INTO events_again SELECT id, `user name`, tags, props, place, at_ FROM events WHERE id > 1;
END;
SELECT id, part, `offset`, tags[1], props['a'], place.geo.lat
    FROM events /*+ OPTIONS('scan.bounded.mode'='latest-offset') */;
RESET;
"""


def test_every_statement_form(lab: Lab, topic: TopicFactory) -> None:
    events = topic()
    names = {name: f"{events}-{name}" for name in ("latest", "pairs", "again")}
    place = {"city": "Berlin", "geo": {"lat": 52.5, "lon": 13.4}}
    lab.put(
        events,
        {"id": 1, "user name": "ann", "tags": ["x", "y"], "props": {"a": 5}, "place": place},
        {"id": 2, "user name": None, "at_": "2024-02-02 00:00:00"},
        {"id": 3, "user name": "eve", "place": {"city": "Rome"}, "props": {}},
    )
    answers = list(lab.session.execute(lab.filled(SCRIPT, events=events, **names)))
    for job in lab.session.jobs:
        assert job.wait(180)

    texts = [answer for answer in answers if isinstance(answer, Text) and answer.rows]
    settings, tables, views, pairs, in_berlin, description, view, plan, shown_plan = texts
    assert ("execution.checkpointing.interval", "1 s") in settings.rows
    assert [row[0] for row in tables.rows] == ["events", "events_again", "in_berlin", "latest", "named", "pairs"]
    assert [row[0] for row in views.rows] == ["in_berlin", "named"]
    assert "PRIMARY KEY (`b`, `a`) NOT ENFORCED" in pairs.rows[0][0]
    assert "SELECT * FROM named WHERE city = 'Berlin'" in in_berlin.rows[0][0]
    assert [row[:2] for row in description.rows][:2] == [("id", "BIGINT"), ("user name", "STRING")]
    assert [row[:2] for row in view.rows] == [("id", "BIGINT"), ("who", "STRING"), ("city", "STRING")]
    assert plan.rows[0][0].startswith("Sink latest")
    assert "Scan events" in shown_plan.rows[0][0]

    assert [row for _, row in sorted(lab.shown)] == [
        (1, 0, 0, "x", 5, 52.5),
        (2, 0, 1, None, None, None),
        (3, 0, 2, None, None, None),
    ]
    assert isinstance(answers[-2], Selection)
    assert lab.pairs(names["latest"]) == [({"id": 1}, {"id": 1, "name": "ANN", "city": "Berlin"})]
    assert sorted(lab.pairs(names["pairs"]), key=str) == [
        ({"b": "ANN", "a": 1}, {"c": 1}),
        ({"b": "EVE", "a": 3}, {"c": 1}),
    ]
    again = sorted(lab.values(names["again"]), key=lambda row: row["id"])
    assert [(row["id"], row["user name"], row["at_"]) for row in again] == [
        (1, "values", "2024-01-01 00:00:00.5"),
        (2, None, "2024-02-02 00:00:00"),
        (3, "eve", None),
    ]
    assert again[2]["place"] == {"city": "Rome", "geo": None}
    assert lab.session.options.items() == type(lab.session.options)().items()


def test_secrets_stay_hidden_while_a_job_runs(lab: Lab, topic: TopicFactory, caplog: pytest.LogCaptureFixture) -> None:
    """In EXPLAIN, SHOW CREATE TABLE, DESCRIBE, logs, notices, and the error of a job that fails."""
    caplog.set_level("DEBUG")
    login = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="u" password="hunter2";'
    lab.start(
        """
        CREATE TABLE t (id INT NOT NULL) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json}, {once},
            'properties.sasl.jaas.config' = '{login}', 'properties.ssl.truststore.password' = 'hunter2',
            'properties.ssl.key.password' = 'hunter2');
        """,
        t=topic(),
        login=login,
    )
    answers = [lab.start(f"{s};") for s in ("EXPLAIN SELECT * FROM t", "SHOW CREATE TABLE t", "DESCRIBE t")]
    lab.finish("INSERT INTO t VALUES (1);")
    failing = lab.job("INSERT INTO t SELECT CAST(id / (id - 1) AS INT) FROM t;")
    with pytest.raises(RowkindError) as failed:
        failing.wait(SECONDS)
    said = (*map(str, answers), *lab.notices, str(failed.value), repr(failed.value), repr(failing.plan), caplog.text)
    assert [text for text in said if "hunter2" in text] == []
