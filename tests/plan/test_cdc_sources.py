"""Plans over tables with a CDC format: who gets old rows, and what the option for repeated events changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from rowkind.catalog.catalog import Catalog
from rowkind.errors import RowkindError
from rowkind.kinds import ChangelogMode
from rowkind.options.session_values import SessionOptions
from rowkind.plan import nodes as n
from rowkind.plan.traits import emits
from rowkind.runtime.driver.planning import Planner
from rowkind.sql import parse_script
from rowkind.sql import statements as s
from rowkind.sql.errors import Source

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

TABLES = """
    CREATE TABLE changes (id BIGINT, name STRING{key}) WITH ('connector' = 'kafka', 'topic' = 'c', {kafka},
        'format' = 'debezium-json');
    CREATE TABLE copy (id BIGINT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
        'topic' = 'u', {kafka}, 'key.format' = 'json', 'value.format' = 'json');
    CREATE TABLE by_name (name STRING, n BIGINT, PRIMARY KEY (name) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
        'topic' = 'n', {kafka}, 'key.format' = 'json', 'value.format' = 'json');
    CREATE TABLE log (id BIGINT, name STRING) WITH ('connector' = 'kafka', 'topic' = 'l', {kafka},
        'format' = 'canal-json');
"""
KEYED = ", PRIMARY KEY (id) NOT ENFORCED"


def plan(spark: SparkSession, sql: str, key: str = KEYED, repeats: bool = False) -> list[n.Node]:
    from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer

    catalog, options = Catalog(), SessionOptions()
    if repeats:
        options, _ = options.set("table.exec.source.cdc-events-duplicate", "true")
    tables = TABLES.replace("{key}", key).replace("{kafka}", "'properties.bootstrap.servers' = 'x:1'")
    for statement in parse_script(tables):
        assert isinstance(statement, s.CreateTable)
        catalog.create_table(statement.definition)
    (insert,) = parse_script(sql)
    assert isinstance(insert, s.Insert | s.StatementSet)
    return Planner(catalog, SparkAnalyzer(spark), options, Source(sql)).inserts(insert)


def steps(plan: n.Node) -> list[str]:
    """From the scan up."""
    return [type(node).__name__ for node in n.walk(plan) if not isinstance(node, n.Project)]


def scan(plan: n.Node) -> n.Scan:
    return next(node for node in n.walk(plan) if isinstance(node, n.Scan))


def test_a_pipe_by_key_leaves_out_old_rows(spark: SparkSession) -> None:
    (found,) = plan(spark, "INSERT INTO copy SELECT * FROM changes")
    assert steps(found) == ["Scan", "Sink"]
    assert not scan(found).emit_before
    assert emits(scan(found)) is ChangelogMode.UPSERT


@pytest.mark.parametrize(
    "sql",
    [
        "INSERT INTO copy SELECT * FROM changes WHERE name <> 'x'",
        "INSERT INTO by_name SELECT name, COUNT(*) FROM changes GROUP BY name",
        "INSERT INTO log SELECT * FROM changes",
    ],
    ids=["a filter that a change may leave", "an aggregate", "a changelog"],
)
def test_others_need_old_rows(spark: SparkSession, sql: str) -> None:
    (found,) = plan(spark, sql)
    assert scan(found).emit_before
    assert "Normalize" not in steps(found)


def test_readers_with_different_needs_share_one_scan(spark: SparkSession) -> None:
    both = """
        EXECUTE STATEMENT SET BEGIN
            INSERT INTO copy SELECT * FROM changes; INSERT INTO log SELECT * FROM changes;
        END
    """
    first, second = plan(spark, both)
    assert scan(first) == scan(second)
    assert scan(first).emit_before


def test_without_a_key_the_sink_keeps_the_rows(spark: SparkSession) -> None:
    (found,) = plan(spark, "INSERT INTO copy SELECT * FROM changes", key="")
    assert steps(found) == ["Scan", "SinkMaterialize", "Sink"]
    assert scan(found).emit_before


@pytest.mark.parametrize("target", ["copy", "log"])
def test_repeated_events_are_removed_by_key(spark: SparkSession, target: str) -> None:
    (found,) = plan(spark, f"INSERT INTO {target} SELECT * FROM changes", repeats=True)
    assert steps(found) == ["Scan", "Normalize", "Sink"]
    normalize = next(node for node in n.walk(found) if isinstance(node, n.Normalize))
    assert normalize.key == ("id",)
    assert normalize.emit_before == (target == "log")
    assert scan(found).emit_before


def test_repeated_events_need_a_key(spark: SparkSession) -> None:
    with pytest.raises(RowkindError) as failed:
        plan(spark, "INSERT INTO copy SELECT * FROM changes", key="", repeats=True)
    assert failed.value.condition == "CDC_DUPLICATES_NEED_PRIMARY_KEY"
