"""Stateless queries: expressions, views, unions, VALUES, statement sets."""

from __future__ import annotations

import datetime
from decimal import Decimal

import pytest

from rowkind.errors import RowkindError
from rowkind.runtime.driver.session import Text
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

SOURCE = """
    CREATE TABLE s (id INT, name STRING, n INT) WITH ('connector' = 'kafka', 'topic' = '{s}', {kafka}, {json}, {once});
"""


def test_views_on_views_ctes_and_union_all(lab: Lab, topic: TopicFactory) -> None:
    source = topic(partitions=2)
    lab.put(source, *({"id": i, "name": "ab"[i % 2], "n": i * 10} for i in range(6)))
    lab.finish(
        SOURCE
        + """
        CREATE VIEW big AS SELECT id, name AS who, n FROM s WHERE n >= 20;
        CREATE VIEW bigger (number, letter) AS SELECT id, UPPER(who) FROM big WHERE n > 30;
        WITH low AS (SELECT id, name FROM s WHERE n < 20), both_ (a, b) AS (
            SELECT id, name FROM low UNION ALL SELECT number, letter FROM bigger)
        SELECT x.a + 1 AS a, b, 'c' AS c FROM (SELECT * FROM both_) AS x WHERE b <> 'A';
        """,
        s=source,
    )
    assert sorted(lab.shown) == [("+I", (1, "a", "c")), ("+I", (2, "b", "c")), ("+I", (6, "B", "c"))]


def test_values_with_a_column_list(lab: Lab, topic: TopicFactory) -> None:
    name = topic()
    lab.finish(
        """
        CREATE TABLE t (a INT, b STRING, c DOUBLE, d AS a + 1)
            WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json});
        INSERT INTO t (c, a) VALUES (1.5, 1), (2, CAST('2' AS INT)), (NULL, 1 + 2);
        """,
        t=name,
    )
    assert [(r["a"], r["b"], r["c"]) for r in lab.values(name)] == [(1, None, 1.5), (2, None, 2.0), (3, None, None)]


def test_values_come_once_even_when_the_job_goes_on(lab: Lab, topic: TopicFactory) -> None:
    source = topic()
    endless = SOURCE.replace("{once}", "'scan.startup.mode' = 'earliest-offset'")
    job = lab.job(endless + "SELECT id FROM s UNION ALL SELECT * FROM (VALUES (100), (200)) AS v(id);", s=source)
    lab.until(lambda: len(lab.shown) == 2, job)
    lab.put(source, {"id": 1})
    lab.until(lambda: len(lab.shown) == 3, job)
    assert sorted(row for _, row in lab.shown) == [(1,), (100,), (200,)]


def test_a_statement_set_reads_its_source_once(lab: Lab, topic: TopicFactory) -> None:
    source = topic(partitions=2)
    lab.put(source, *({"id": i, "n": i} for i in range(10)))
    job = lab.finish(
        SOURCE
        + """
        CREATE TABLE a (id INT) WITH ('connector' = 'kafka', 'topic' = '{s}-a', {kafka}, {json});
        CREATE TABLE b (id INT, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('connector' = 'upsert-kafka', 'topic' = '{s}-b', {kafka}, {keyed});
        EXECUTE STATEMENT SET BEGIN
            INSERT INTO a SELECT id FROM s WHERE n < 3;
            INSERT INTO b SELECT id * 2 FROM s WHERE n > 6;
            INSERT INTO a SELECT n + 100 FROM s WHERE id = 5;
        END;
        """,
        s=source,
    )
    assert sorted(row["id"] for row in lab.values(f"{source}-a")) == [0, 1, 2, 105]
    assert sorted(row["id"] for row in lab.values(f"{source}-b")) == [14, 16, 18]
    assert len(lab.session.jobs) == 1
    assert (job.progress.rows_in, job.progress.rows_out) == (10, 7)


def test_time_is_fixed_per_batch(lab: Lab, topic: TopicFactory) -> None:
    source = topic()
    lab.put(source, *({"id": i} for i in range(20)))
    lab.finish(
        """
        SET 'table.local-time-zone' = 'UTC';
        CREATE TABLE s (id INT, p AS PROCTIME()) WITH (
            'connector' = 'kafka', 'topic' = '{s}', {kafka}, {json}, {once}, 'scan.max-rows-per-batch' = '10');
        SELECT CAST(p AS STRING), CAST(CURRENT_TIMESTAMP AS STRING) FROM s;
        """,
        s=source,
    )
    times = {row for _, row in lab.shown}
    assert len(times) == 2
    now = datetime.datetime.now(datetime.UTC).replace(tzinfo=None)
    assert all(abs(datetime.datetime.fromisoformat(p) - now) < datetime.timedelta(minutes=10) for p, _ in times)


def test_arithmetic_and_types_are_flinks(lab: Lab, topic: TopicFactory) -> None:
    """Decision 14."""
    source = topic()
    lab.put(source, {"id": 7, "ID": 1, "d": 1.5, "t": "2024-01-01 00:00:00"})
    lab.finish(
        """
        CREATE TABLE s (id INT, ID INT, d DECIMAL(10, 2), t TIMESTAMP(3))
            WITH ('connector' = 'kafka', 'topic' = '{s}', {kafka}, {json}, {once});
        SELECT id / 2, ID, d * d, CAST(id = 7 AS STRING), CAST(t AS STRING), CAST(CAST(3.0E0 AS DOUBLE) AS STRING)
        FROM s;
        """,
        s=source,
    )
    assert lab.shown == [("+I", (3, 1, Decimal("2.2500"), "TRUE", "2024-01-01 00:00:00.000", "3.0"))]


def test_division_by_zero_is_an_error_that_says_so(lab: Lab, topic: TopicFactory) -> None:
    source = topic()
    lab.put(source, {"id": 7, "n": 0})
    job = lab.job(SOURCE + "SELECT id / n FROM s;", s=source)
    with pytest.raises(RowkindError, match=r"(?i)division|zero"):
        job.wait(SECONDS)


def test_explain_shows_traits_and_steps(lab: Lab) -> None:
    answer = lab.start(
        """
        CREATE TABLE u (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('connector' = 'upsert-kafka', 'topic' = 'u', {kafka}, {keyed});
        CREATE TABLE a (id INT, name STRING) WITH ('connector' = 'kafka', 'topic' = 'a', {kafka}, {json}, {once});
        EXPLAIN INSERT INTO u SELECT id, UPPER(name) FROM a WHERE id > 3;
        """
    )
    assert isinstance(answer, Text)
    lines = answer.rows[0][0].splitlines()
    assert lines[0].startswith("Sink u (upsert-kafka")
    assert "takes +I,+U,-D" in lines[0]
    assert "Filter" in lines[-2]
    assert lines[-1].endswith("Scan a (kafka, topic a, json)  [+I]")
    piped = lab.start("EXPLAIN INSERT INTO u SELECT * FROM u;")
    assert isinstance(piped, Text)
    assert "[+I,+U,-D, upsert key (id)]" in piped.rows[0][0]


@pytest.mark.parametrize(
    ("sql", "condition", "words"),
    [
        ("SELECT nam FROM s", "UNKNOWN_COLUMN", "'name'"),
        ("SELECT s.nam FROM s", "UNKNOWN_COLUMN", "'name'"),
        ("SELECT x.name FROM s", "UNKNOWN_COLUMN", ""),
        ("SELECT * FROM ss", "NO_SUCH_RELATION", "'s'"),
        ("SELECT ID FROM s", "UNKNOWN_COLUMN", "'id'"),
        ("SELECT UPER(name) FROM s", "UNKNOWN_FUNCTION", "'UPPER'"),
        ("SELECT id FROM s UNION ALL SELECT id, name FROM s", "COLUMN_COUNT", ""),
        ("INSERT INTO nowhere SELECT id FROM s", "NO_SUCH_TABLE", ""),
        ("SELECT id FROM s WHERE name", "EXPRESSION_ERROR", ""),
        ("INSERT INTO s SELECT id FROM s", "SINK_SCHEMA", ""),
        ("INSERT INTO s SELECT name, name, n FROM s", "SINK_SCHEMA", ""),
        ("INSERT INTO s (id, nam) SELECT id, name FROM s", "NO_SUCH_COLUMN", "'name'"),
    ],
)
def test_wrong_names_and_shapes_point_at_their_place(lab: Lab, sql: str, condition: str, words: str) -> None:
    """Decision 5."""
    with pytest.raises(RowkindError) as failed:
        lab.start(SOURCE + f"\n{sql};", s="x")
    assert failed.value.condition == condition or f"[{condition}]" in str(failed.value)
    assert words in str(failed.value)


def test_options_in_another_case_are_taken_with_a_warning(lab: Lab, topic: TopicFactory) -> None:
    """Decision 4; decision 3: `format` on an upsert table is the value's format."""
    name = topic(**{"cleanup.policy": "compact"})
    lab.finish(
        """
        CREATE TABLE t (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
            'CONNECTOR' = 'upsert-kafka', 'topic' = '{t}', {kafka}, 'KEY.FORMAT' = 'json', 'format' = 'json');
        INSERT INTO t VALUES (1);
        """,
        t=name,
    )
    assert lab.pairs(name) == [({"id": 1}, {"id": 1})]
    assert any("KEY.FORMAT" in notice for notice in lab.notices)
    with pytest.raises(RowkindError):
        lab.start(
            """
            CREATE TABLE u (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka', 'topic' = 'x',
                {kafka}, 'key.format' = 'json', 'value.format' = 'json', 'format' = 'json');
            SELECT * FROM u;
            """
        )
