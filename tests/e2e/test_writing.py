"""What sinks write, where to, and the topics they make."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from rowkind.errors import RowkindError
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import KafkaClient, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]


class ByLength:
    """A partitioner of a user's own: by the length of a column."""

    def open(self, task: int, tasks: int) -> None:
        assert 0 <= task < tasks

    def partition(self, row: Any, key: Any, value: Any, topic: str, partitions: Any) -> int:
        return partitions[len(row["name"]) % len(partitions)]  # type: ignore[no-any-return]


def topic_config(client: KafkaClient, topic: str) -> dict[str, str]:
    from confluent_kafka.admin import ConfigResource, ResourceType

    resource = ConfigResource(ResourceType.TOPIC, topic)
    found = client.admin.describe_configs([resource])[resource].result(60)
    return {name: entry.value for name, entry in found.items()}


def test_topics_are_created_as_the_table_says(lab: Lab, topic: TopicFactory) -> None:
    """Decisions 8 and 9; decision 7: an insert-only query into an upsert table is told about."""
    base = topic()
    lab.finish(
        """
        CREATE TABLE state (id INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
            'topic' = '{base}-state', {kafka}, {keyed}, 'sink.topic.partitions' = '3',
            'sink.topic.replication-factor' = '1', 'sink.topic.config.segment.ms' = '60000');
        CREATE TABLE log (id INT) WITH ('connector' = 'kafka', 'topic' = '{base}-log', {kafka}, {json});
        INSERT INTO state VALUES (1), (2);
        INSERT INTO log VALUES (1), (2);
        """,
        base=base,
    )
    assert lab.client.partitions(f"{base}-state") == [0, 1, 2]
    config = topic_config(lab.client, f"{base}-state")
    assert (config["cleanup.policy"], config["segment.ms"]) == ("compact", "60000")
    assert topic_config(lab.client, f"{base}-log")["cleanup.policy"] == "delete"
    assert lab.notices == []  # rows of VALUES are no stream that would rather be appended
    assert len(lab.records(f"{base}-state")) == 2


def test_an_upsert_sink_on_a_topic_that_is_not_compacted_is_told_about(lab: Lab, topic: TopicFactory) -> None:
    name = topic()
    lab.finish(
        """
        CREATE TABLE state (id INT, PRIMARY KEY (id) NOT ENFORCED)
            WITH ('connector' = 'upsert-kafka', 'topic' = '{t}', {kafka}, {keyed});
        INSERT INTO state VALUES (1);
        """,
        t=name,
    )
    assert sum("cleanup.policy" in notice for notice in lab.notices) == 1
    assert lab.pairs(name) == [({"id": 1}, {"id": 1})]


def test_metadata_is_written(lab: Lab, topic: TopicFactory) -> None:
    name = topic()
    lab.finish(
        """
        SET 'table.local-time-zone' = 'UTC';
        CREATE TABLE t (
            id INT, `timestamp` TIMESTAMP(3) METADATA, headers MAP<STRING, BYTES> METADATA,
            `offset` BIGINT METADATA VIRTUAL
        ) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json});
        INSERT INTO t VALUES
            (1, TIMESTAMP '2023-11-14 22:13:20.123', MAP['a', CAST('x' AS BYTES)]),
            (2, TIMESTAMP '2023-11-14 22:13:21', CAST(NULL AS MAP<STRING, BYTES>)),
            (3, CAST(NULL AS TIMESTAMP(3)), MAP['b', CAST(NULL AS BYTES)]);
        """,
        t=name,
    )
    one, two, three = lab.records(name)
    assert (one.timestamp, two.timestamp) == (1_700_000_000_123, 1_700_000_001_000)
    assert (three.timestamp or 0) > 1_700_000_001_000
    assert (one.headers, two.headers, three.headers) == ((("a", b"x"),), (), (("b", None),))
    assert json.loads(one.value or b"") == {"id": 1}


def test_a_header_list_keeps_order_and_repeats(lab: Lab, topic: TopicFactory) -> None:
    name = topic()
    lab.finish(
        """
        CREATE TABLE t (id INT, h ARRAY<ROW<k STRING, v BYTES>> METADATA FROM 'header-list')
            WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json});
        INSERT INTO t VALUES (1, ARRAY[ROW('b', CAST('1' AS BYTES)), ROW('a', CAST('2' AS BYTES)), ROW('b', NULL)]);
        """,
        t=name,
    )
    assert [record.headers for record in lab.records(name)] == [(("b", b"1"), ("a", b"2"), ("b", None))]


def test_the_row_chooses_its_topic(lab: Lab, topic: TopicFactory) -> None:
    first, second = topic(), topic()
    table = """
        CREATE TABLE t (id INT, `topic` STRING METADATA) WITH ('connector' = 'kafka', {which}, {kafka}, {json});
    """
    lab.finish(table + "INSERT INTO t VALUES (1, '{a}'), (2, '{b}'), (3, '{a}');", which="'topic' = '{a};{b}'"
               .replace("{a}", first).replace("{b}", second), a=first, b=second)  # fmt: skip
    assert (lab.values(first), lab.values(second)) == ([{"id": 1}, {"id": 3}], [{"id": 2}])
    for value, condition in (("CAST(NULL AS STRING)", "NO_TOPIC_FOR_ROW"), ("'elsewhere'", "TOPIC_NOT_ALLOWED")):
        job = lab.job(f"INSERT INTO t VALUES (4, {value});")
        with pytest.raises(RowkindError) as failed:
            job.wait(SECONDS)
        assert failed.value.condition == condition


def test_a_topic_pattern_limits_where_rows_go(lab: Lab, topic: TopicFactory) -> None:
    name = topic(name="match")
    lab.finish(
        """
        CREATE TABLE t (id INT, `topic` STRING METADATA)
            WITH ('connector' = 'kafka', 'topic-pattern' = 'match-.*', {kafka}, {json});
        INSERT INTO t VALUES (1, '{t}');
        """,
        t=name,
    )
    assert lab.values(name) == [{"id": 1}]
    job = lab.job("INSERT INTO t VALUES (1, 'other');")
    with pytest.raises(RowkindError) as failed:
        job.wait(SECONDS)
    assert failed.value.condition == "TOPIC_NOT_ALLOWED"


SPREAD = """
    CREATE TABLE s (name STRING) WITH ('connector' = 'kafka', 'topic' = '{s}', {kafka}, {json}, {once});
    CREATE TABLE t (name STRING) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json}, {options});
    INSERT INTO t SELECT name FROM s;
"""


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("'sink.partitioner' = 'fixed'", {0: 12}),
        ("'sink.partitioner' = 'round-robin'", {0: 4, 1: 4, 2: 4}),
        ("'sink.partitioner' = 'tests.e2e.test_writing:ByLength'", {1: 6, 2: 6}),
        ("'sink.partitioner' = 'fixed', 'sink.parallelism' = '3'", {0: 4, 1: 4, 2: 4}),
        ("'sink.partitioner' = 'fixed', 'sink.parallelism' = '1'", {0: 12}),
        ("'sink.delivery-guarantee' = 'none', 'sink.partitioner' = 'fixed'", {0: 12}),
    ],
    ids=["fixed", "round-robin", "own-class", "fixed-and-parallel", "one-task", "no-guarantee"],
)
def test_partitioners(lab: Lab, topic: TopicFactory, options: str, expected: dict[int, int]) -> None:
    """Decision 10: round-robin really rotates."""
    source, sink = topic(), topic(partitions=3)
    lab.put(source, *({"name": "a" * (1 + i % 2)} for i in range(12)))
    lab.finish(SPREAD, s=source, t=sink, options=options)
    assert Counter(record.partition for record in lab.records(sink)) == expected


def test_sink_tasks_are_counted_from_zero_for_every_sink_of_a_job(lab: Lab, topic: TopicFactory) -> None:
    source, first, second = topic(), topic(partitions=3), topic(partitions=3)
    lab.put(source, {"name": "a"}, {"name": "b"})
    lab.finish(
        SPREAD.replace("INSERT INTO t SELECT name FROM s;", "")
        + """
        CREATE TABLE u WITH ('topic' = '{u}', {options}) LIKE t (OVERWRITING OPTIONS);
        EXECUTE STATEMENT SET BEGIN
            INSERT INTO t SELECT name FROM s;
            INSERT INTO u SELECT name FROM s;
        END;
        """,
        s=source,
        t=first,
        u=second,
        options="'sink.partitioner' = 'fixed'",
    )
    assert {r.partition for r in lab.records(first)} == {0}
    assert {r.partition for r in lab.records(second)} == {0}


def test_parallel_sinks_keep_the_order_of_a_key(lab: Lab, topic: TopicFactory) -> None:
    source, sink = topic(partitions=2), topic(partitions=2, **{"cleanup.policy": "compact"})
    lab.put_pairs(source, [({"id": i % 7}, {"id": i % 7, "n": i}) for i in range(700)])
    lab.finish(
        """
        CREATE TABLE s (id INT, n INT) WITH ('connector' = 'kafka', 'topic' = '{s}', {kafka}, {json}, {once});
        CREATE TABLE t (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH (
            'connector' = 'upsert-kafka', 'topic' = '{t}', {kafka}, {keyed}, 'sink.parallelism' = '3');
        INSERT INTO t SELECT id, n FROM s;
        """,
        s=source,
        t=sink,
    )
    pairs = lab.pairs(sink)
    for key in range(7):
        assert [value["n"] for _, value in pairs if value["id"] == key] == list(range(key, 700, 7))


NOT_NULL = """
    CREATE TABLE s (id INT, name STRING) WITH ('connector' = 'kafka', 'topic' = '{s}', {kafka}, {json}, {once});
    CREATE TABLE t (id INT, name STRING NOT NULL)
        WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json}, 'sink.partitioner' = 'round-robin');
"""


def test_nulls_in_not_null_columns_fail_or_are_dropped_and_counted(lab: Lab, topic: TopicFactory) -> None:
    source, sink = topic(), topic()
    lab.put(source, {"id": 1, "name": "a"}, {"id": 2}, {"id": 3, "name": "c"})
    job = lab.job(NOT_NULL + "INSERT INTO t SELECT * FROM s;", s=source, t=sink)
    with pytest.raises(RowkindError) as failed:
        job.wait(SECONDS)
    assert failed.value.condition == "NULL_IN_NOT_NULL_COLUMN"
    assert failed.value.params["column"] == "name"
    before = len(lab.records(sink))
    dropping = lab.job("SET 'table.exec.sink.not-null-enforcer' = 'DROP'; INSERT INTO t SELECT * FROM s;")
    assert dropping.wait(SECONDS)
    assert [row["id"] for row in lab.values(sink)[before:]] == [1, 3]
    assert dropping.progress.counts["t.null-rows-dropped"] == 1
    assert dropping.progress.rows_out == 2


def test_the_prefix_is_cut_off_inside_the_key_only(lab: Lab, topic: TopicFactory) -> None:
    name = topic(**{"cleanup.policy": "compact"})
    lab.finish(
        """
        CREATE TABLE t (k_id INT, k_no INT, v STRING, PRIMARY KEY (k_no, k_id) NOT ENFORCED) WITH (
            'connector' = 'upsert-kafka', 'topic' = '{t}', {kafka}, {keyed}, 'key.fields-prefix' = 'k_',
            'value.fields-include' = 'EXCEPT_KEY');
        INSERT INTO t (v, k_id, k_no) VALUES ('x', 1, 2);
        """,
        t=name,
    )
    assert [(r.key, r.value) for r in lab.records(name)] == [(b'{"no":2,"id":1}', b'{"v":"x"}')]


def test_the_producer_is_idempotent_and_waits_for_all(lab: Lab) -> None:
    """Decision 12."""
    from rowkind.connectors.kafka.properties import producer_config

    values = producer_config({"bootstrap.servers": "x:1"}).values
    assert (values["enable.idempotence"], values["acks"]) == ("true", "all")


def test_properties_are_checked_before_a_job_starts(lab: Lab) -> None:
    """Decisions 13 and 38: unknown ones and meaningless ones are told about once."""
    table = """
        CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'topic' = 'x', {kafka}, {json},
            'scan.startup.mode' = 'latest-offset', {more});
    """
    lab.start(table + "EXPLAIN SELECT * FROM t;", more="'properties.isolation.levl' = 'read_committed'")
    assert sum("did you mean 'isolation.level'" in notice for notice in lab.notices) == 1
    lab.start("DROP TABLE t;" + table + "EXPLAIN SELECT * FROM t;", more="'properties.metric.reporters' = 'x'")
    assert sum("metric.reporters" in notice for notice in lab.notices) == 1


def test_a_buffered_sink_writes_the_last_row_of_each_key(lab: Lab, topic: TopicFactory) -> None:
    """Spec 3.6: a delete behind an insert is a tombstone, an insert behind a delete just the row."""
    source, target = topic(), topic(**{"cleanup.policy": "compact"})
    pairs: list[tuple[Any, Any]] = [({"id": i % 3}, {"id": i % 3, "n": i}) for i in range(9)]
    lab.put_pairs(source, [*pairs, ({"id": 0}, None), ({"id": 7}, None), ({"id": 7}, {"id": 7, "n": 9})])
    job = lab.finish(
        """
        CREATE TABLE numbers (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
            'topic' = '{source}', {kafka}, {keyed}, 'scan.bounded.mode' = 'latest-offset');
        CREATE TABLE latest (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
            'topic' = '{target}', {kafka}, {keyed},
            'sink.buffer-flush.max-rows' = '100', 'sink.buffer-flush.interval' = '2 s');
        INSERT INTO latest SELECT id, n FROM numbers;
        """,
        source=source,
        target=target,
    )
    wanted = [({"id": 0}, None), ({"id": 1}, 7), ({"id": 2}, 8), ({"id": 7}, 9)]
    assert sorted(((k, v and v["n"]) for k, v in lab.pairs(target)), key=str) == wanted
    assert [n for name, n in job.progress.counts.items() if name.endswith(".changes_coalesced")] == [8]
