"""Top-N of equal sort keys: the rows that got there first stay, as in Flink, whatever task computed them."""

from __future__ import annotations

import pytest

from rowkind.operators.aggregate.distinct import DistinctStage
from rowkind.operators.aggregate.group_aggregate import Aggregate
from rowkind.plan import nodes as n
from tests.e2e.lab import Lab
from tests.kafka_client import TopicFactory
from tests.oracle.duck import Duck
from tests.oracle.planning import job_of

TABLES = """
    CREATE TABLE s (kind STRING, item INT)
        WITH ('connector' = 'kafka', 'topic' = '{s}', {kafka}, {json}, {once});
    CREATE TABLE top2 (kind STRING, item INT, n BIGINT, PRIMARY KEY (kind, item) NOT ENFORCED)
        WITH ('connector' = 'upsert-kafka', 'topic' = '{o}', {kafka}, {keyed});
"""
INSERT = """
    INSERT INTO top2 SELECT kind, item, n FROM (
        SELECT *, ROW_NUMBER() OVER (PARTITION BY kind ORDER BY n DESC) AS rn
        FROM (SELECT kind, item, {count} AS n FROM s GROUP BY kind, item)
    ) WHERE rn <= 2;
"""


@pytest.mark.kafka
@pytest.mark.spark
def test_of_equal_counts_the_first_two_stay(lab: Lab, topic: TopicFactory) -> None:
    source, sink = topic(partitions=1), topic()
    kinds = [f"k{number}" for number in range(12)]
    lab.put(source, *({"kind": kind, "item": item} for _ in range(2) for item in (3, 2, 1) for kind in kinds))
    lab.finish(TABLES + INSERT.replace("{count}", "COUNT(*)"), s=source, o=sink)
    rows = {(key["kind"], key["item"]): value for key, value in lab.pairs(sink)}
    found = {key for key, value in rows.items() if value is not None}
    assert found == {(kind, item) for kind in kinds for item in (3, 2)}


@pytest.mark.parametrize("count", ["COUNT(*)", "COUNT(DISTINCT item)"])
def test_only_a_grouping_below_a_ranking_tells_when_results_came(count: str) -> None:
    tables = TABLES.replace("'topic' = '{s}', {kafka}", "{at}").replace("'topic' = '{o}', {kafka}", "{at}")
    tables = tables.replace("{json}, {once}", "'format' = 'json', 'scan.startup.mode' = 'earliest-offset'")

    def tells(sql: str) -> bool:
        plan = job_of(tables + sql, Duck())
        (stages,) = (found for node, found in plan.operators.items() if isinstance(node, n.Aggregate))
        operator = stages[0].operator
        made = operator.aggregate if isinstance(operator, DistinctStage) else operator
        assert isinstance(made, Aggregate)
        return made.tells

    assert tells(INSERT.replace("{count}", count))
    assert not tells(f"INSERT INTO top2 SELECT kind, item, {count} FROM s GROUP BY kind, item;")
