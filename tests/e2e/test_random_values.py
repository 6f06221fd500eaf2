"""Random numbers: the same when a batch is run again, and others in every other job, batch, task and place."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from rowkind.plan.expressions import Moment, bind_clock
from rowkind.sql import parse_expression
from tests.e2e.lab import Lab
from tests.kafka_client import TopicFactory

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

CALLS = ("UUID()", "RAND()", "RAND_INTEGER(1000000000)")


@pytest.mark.spark
@pytest.mark.parametrize("call", [*CALLS, "RAND(5)", "RAND_INTEGER(5, 1000000000)"])
def test_tasks_and_batches_have_their_own(spark: SparkSession, call: str) -> None:
    from rowkind.plan.expressions import translate
    from rowkind.runtime.driver.spark_analyzer import SparkAnalyzer

    sql = translate(parse_expression(call), {}, SparkAnalyzer(spark)).sql

    def values(batch: int, job: str = "a", place: int = 0) -> list[object]:
        bound = bind_clock(sql, Moment(0, batch, job, (place,)))
        return [row[0] for row in spark.range(0, 20, 1, 2).selectExpr(bound).collect()]

    batches = [value for batch in range(5) for value in values(batch)]
    assert len(set(batches)) == 100, "a batch has the numbers of the one before it in another task"
    assert values(1) == values(1)
    seeded = call not in CALLS
    assert (values(1, job="b") == values(1)) == seeded
    assert (values(1, place=1) == values(1)) == seeded


@pytest.mark.kafka
@pytest.mark.spark
def test_a_script_that_is_run_twice(lab: Lab, topic: TopicFactory) -> None:
    source, sink = topic(partitions=2), topic()
    lab.put(source, *({"id": number} for number in range(30)))
    tables = """
        CREATE TABLE s (id INT, a AS UUID(), b AS UUID())
            WITH ('connector' = 'kafka', 'topic' = '{s}', {kafka}, {json}, {once});
        CREATE VIEW v AS SELECT a, b, UUID() AS c, UUID() AS d FROM s;
        CREATE TABLE o (a STRING, b STRING, c STRING, d STRING, e STRING, f STRING)
            WITH ('connector' = 'kafka', 'topic' = '{o}', {kafka}, {json});
    """
    insert = "INSERT INTO o SELECT a, b, c, d, UUID(), UUID() FROM v;"
    lab.finish(tables + insert, s=source, o=sink)
    lab.finish(insert)
    found = Counter(value for row in lab.values(sink) for value in row.values())
    assert len(found) == found.total() == 2 * 30 * 6
