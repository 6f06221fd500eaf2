"""Where reading starts and ends, what is found meanwhile, and what a message's row holds."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any
from uuid import uuid4

import pytest
from confluent_kafka import Consumer, TopicPartition
from confluent_kafka.admin import NewPartitions

from rowkind.errors import RowkindError
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import KafkaClient, Record, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

TABLE = "CREATE TABLE t (id INT) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json}, {options});"
BOUNDED = "'scan.bounded.mode' = 'latest-offset'"


def ids(lab: Lab) -> list[int]:
    return sorted(row[0] for _, row in lab.shown)


def dated(number: int, timestamp: int, partition: int = 0) -> Record:
    return Record(None, json.dumps({"id": number}).encode(), partition, timestamp=timestamp)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("'scan.startup.mode' = 'earliest-offset'", [0, 1, 2, 3, 10, 11]),
        ("'scan.startup.mode' = 'latest-offset'", []),
        ("'scan.startup.mode' = 'timestamp', 'scan.startup.timestamp-millis' = '2000'", [2, 3, 11]),
        ("'scan.startup.mode' = 'timestamp', 'scan.startup.timestamp-millis' = '9000'", []),
        (
            "'scan.startup.mode' = 'specific-offsets', 'scan.startup.specific-offsets' = 'partition:0,offset:3'",
            [3, 10, 11],
        ),
        (
            "'scan.startup.mode' = 'specific-offsets',"
            "'scan.startup.specific-offsets' = 'partition:0,offset:99;partition:1,offset:2'",
            [0, 1, 2, 3],
        ),
    ],
    ids=["earliest", "latest", "timestamp", "timestamp-past-the-end", "specific", "specific-out-of-range"],
)
def test_start_positions(lab: Lab, topic: TopicFactory, options: str, expected: list[int]) -> None:
    name = topic(partitions=2)
    lab.client.produce(name, [dated(i, 1000 + 500 * i) for i in range(4)])
    lab.client.produce(name, [dated(10 + i, 1000 + 2000 * i, 1) for i in range(2)])
    job = lab.finish(TABLE + "SELECT id FROM t;", t=name, options=f"{options}, {BOUNDED}")
    assert ids(lab) == expected
    assert job.status == "finished"


def test_latest_is_where_the_topic_ended_at_the_start(lab: Lab, topic: TopicFactory) -> None:
    name = topic()
    lab.put(name, {"id": 1})
    job = lab.job(TABLE + "SELECT id FROM t;", t=name, options="'scan.startup.mode' = 'latest-offset'")
    lab.until(lambda: job.progress.batches, job)
    lab.put(name, {"id": 2}, {"id": 3})
    lab.until(lambda: ids(lab) == [2, 3], job)
    job.stop()
    assert job.wait(SECONDS)
    assert job.status == "stopped"


def test_a_bounded_job_does_not_read_what_comes_later(lab: Lab, topic: TopicFactory) -> None:
    name = topic()
    lab.put(name, *({"id": i} for i in range(30)))
    options = f"'scan.startup.mode' = 'earliest-offset', {BOUNDED}, 'scan.max-rows-per-batch' = '10'"
    job = lab.job(TABLE + "SELECT id FROM t;", t=name, options=options)
    lab.until(lambda: job.progress.batches, job)
    lab.put(name, {"id": 1000})
    assert job.wait(SECONDS)
    assert ids(lab) == list(range(30))
    assert job.progress.batches == 4  # three of ten rows, and the final one
    assert job.progress.lag == 0


def commit(client: KafkaClient, group: str, topic: str, offsets: dict[int, int]) -> None:
    consumer = Consumer({**client.config, "group.id": group})
    consumer.commit(offsets=[TopicPartition(topic, p, at) for p, at in offsets.items()], asynchronous=False)
    consumer.close()


@pytest.mark.parametrize(
    ("reset", "expected"), [("", [1, 2]), (", 'properties.auto.offset.reset' = 'earliest'", [1, 2, 10, 11, 12])]
)
def test_group_offsets_decide_where_to_start(lab: Lab, topic: TopicFactory, reset: str, expected: list[int]) -> None:
    """Decision 1: with nothing committed it starts at latest and says so, unless the user says otherwise."""
    name = topic(partitions=2)
    lab.client.produce(name, [dated(i, 1000) for i in range(3)] + [dated(10 + i, 1000, 1) for i in range(3)])
    commit(lab.client, name, name, {0: 1})
    options = f"'properties.group.id' = '{name}', 'scan.startup.mode' = 'group-offsets', {BOUNDED}{reset}"
    lab.finish(TABLE + "SELECT id FROM t;", t=name, options=options)
    assert ids(lab) == expected
    assert [name in notice and "earliest-offset" in notice for notice in lab.notices] == ([] if reset else [True])


def test_group_offsets_without_reset_fail(lab: Lab, topic: TopicFactory) -> None:
    name = topic()
    options = f"'properties.group.id' = '{name}', 'properties.auto.offset.reset' = 'none', {BOUNDED}"
    job = lab.job(TABLE + "SELECT id FROM t;", t=name, options=options)
    with pytest.raises(RowkindError) as failed:
        job.wait(SECONDS)
    assert failed.value.condition == "NO_COMMITTED_OFFSET"


def test_a_job_commits_the_offsets_of_its_group(lab: Lab, topic: TopicFactory) -> None:
    name = topic(partitions=2)
    lab.client.produce(name, [dated(i, 1000, i % 2) for i in range(5)])
    lab.finish(TABLE + "SELECT id FROM t;", t=name, options=f"{'{once}'}, 'properties.group.id' = '{name}'")
    consumer = Consumer({**lab.client.config, "group.id": name})
    found = consumer.committed([TopicPartition(name, 0), TopicPartition(name, 1)], timeout=60)
    consumer.close()
    assert [p.offset for p in found] == [3, 2]


def test_several_topics(lab: Lab, topic: TopicFactory) -> None:
    first, second = topic(), topic(partitions=2)
    lab.put(first, {"id": 1})
    lab.put(second, {"id": 2}, {"id": 3})
    lab.finish(TABLE + "SELECT id FROM t;", t=f"{first}; {second}", options="{once}")
    assert ids(lab) == [1, 2, 3]


PATTERN = """
    CREATE TABLE t (id INT, topic STRING METADATA VIRTUAL) WITH (
        'connector' = 'kafka', 'topic-pattern' = '{t}', {kafka}, {json}, {options});
"""


def test_a_pattern_matches_whole_names_as_java_does(lab: Lab, kafka_client: KafkaClient) -> None:
    """Decision 24."""
    run = uuid4().hex[:8]
    for number, name in enumerate((f"p{run}-1", f"p{run}-23", f"p{run}-x", f"xp{run}-1", f"p{run}-1x")):
        kafka_client.create_topic(name)
        lab.put(name, {"id": number})
    # a possessive quantifier and a quoted part are Java's
    lab.finish(PATTERN + "SELECT id, topic FROM t;", t=rf"\Qp{run}-\E\p{{Digit}}++", options="{once}")
    assert sorted(lab.shown) == [("+I", (0, f"p{run}-1")), ("+I", (1, f"p{run}-23"))]


def test_a_pattern_that_python_cannot_express_is_refused(lab: Lab) -> None:
    with pytest.raises(RowkindError) as failed:
        lab.start(PATTERN + "SELECT id FROM t;", t=r"a[b-f&&[^d]]", options="{once}")
    assert failed.value.condition == "INVALID_TOPIC_PATTERN"
    assert "&&" in failed.value.params["reason"]


def test_a_pattern_that_matches_nothing_is_no_error(lab: Lab) -> None:
    assert lab.finish(PATTERN + "SELECT id FROM t;", t="nothing-.*", options="{once}").status == "finished"
    assert lab.shown == []


def test_new_partitions_and_topics_are_found_and_read_from_their_beginning(lab: Lab, kafka_client: KafkaClient) -> None:
    run = uuid4().hex[:8]
    kafka_client.create_topic(f"d{run}-1")
    lab.put(f"d{run}-1", {"id": 1})
    options = "'scan.startup.mode' = 'latest-offset', 'scan.topic-partition-discovery.interval' = '100 ms'"
    job = lab.job(PATTERN + "SELECT id, topic FROM t;", t=f"d{run}-.*", options=options)
    lab.until(lambda: job.progress.batches, job)
    kafka_client.create_topic(f"d{run}-2")
    lab.put(f"d{run}-2", {"id": 2})
    kafka_client.admin.create_partitions([NewPartitions(f"d{run}-1", 2)])[f"d{run}-1"].result(60)
    lab.until(lambda: len(kafka_client.partitions(f"d{run}-1")) == 2)
    kafka_client.end_offsets(f"d{run}-1")
    kafka_client.produce(f"d{run}-1", [dated(3, 1000, partition=1)])
    lab.until(lambda: ids(lab) == [2, 3], job)


def test_metadata_columns(lab: Lab, topic: TopicFactory) -> None:
    name = topic(partitions=2, **{"message.timestamp.type": "CreateTime"})
    headers = (("a", b"1"), ("b", None), ("a", b"2"))
    record = Record(b"k", b'{"id":5}', 1, timestamp=1_700_000_000_123, headers=headers)
    lab.client.produce(name, [record, record._replace(headers=())])
    lab.finish(
        """
        SET 'table.local-time-zone' = 'UTC';
        CREATE TABLE t (
            `partition` STRING METADATA, id INT, `topic` STRING METADATA, place BIGINT METADATA FROM 'offset',
            `timestamp` TIMESTAMP_LTZ(3) METADATA, kind STRING METADATA FROM 'timestamp-type',
            headers MAP<STRING, BYTES> METADATA,
            pairs ARRAY<ROW<key STRING, `value` BYTES>> METADATA FROM 'header-list',
            epoch INT METADATA FROM 'leader-epoch'
        ) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {json}, {once});
        SELECT `partition`, id, `topic`, place, CAST(`timestamp` AS STRING), kind, headers, pairs, epoch FROM t;
        """,
        t=name,
    )
    rows = [row for _, row in lab.shown]
    assert [row[:6] for row in rows] == [
        ("1", 5, name, offset, "2023-11-14 22:13:20.123", "CreateTime") for offset in (0, 1)
    ]
    assert [row[6] for row in rows] == [{"a": b"2", "b": None}, {}]
    assert [[tuple(pair) for pair in row[7]] for row in rows] == [[("a", b"1"), ("b", None), ("a", b"2")], []]
    assert [row[8] for row in rows] == [0, 0]


UPSERT = """
    CREATE TABLE t (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
        'connector' = 'upsert-kafka', 'topic' = '{t}', {kafka}, {keyed}, 'scan.bounded.mode' = 'latest-offset'{more});
    CREATE TABLE copy (id INT, name STRING, PRIMARY KEY (id) NOT ENFORCED) WITH (
        'connector' = 'upsert-kafka', 'topic' = '{t}-copy', {kafka}, {keyed});
    INSERT INTO copy SELECT * FROM t;
"""


def test_a_stateless_pipe_of_upserts_writes_every_message(lab: Lab, topic: TopicFactory) -> None:
    """Decision 15; null keys are left out and counted, tombstones stay, even for keys that were never seen."""
    name = topic()  # a compacted topic takes no message without key
    one, two = {"id": 1}, {"id": 2}
    written: list[tuple[Any, Any]] = [
        (one, {"id": 1, "name": "a"}),
        (one, {"id": 1, "name": "a"}),
        (two, None),
        (one, None),
        (two, {"id": 2, "name": "b"}),
    ]
    lab.put_pairs(name, [*written[:3], (None, {"id": 9, "name": "no key"}), (None, None), *written[3:]])
    job = lab.finish(UPSERT, t=name, more="")
    assert lab.pairs(f"{name}-copy") == written
    counts = job.progress.counts
    assert counts["t.messages-without-key"] == 2
    assert counts["t.tombstones-read"] == 3
    assert counts["copy.tombstones-written"] == 2
    assert counts["copy.rows-written"] == 5


def test_a_value_without_the_key_column_does_not_erase_it(lab: Lab, topic: TopicFactory) -> None:
    name = topic(**{"cleanup.policy": "compact"})
    lab.put_pairs(name, [({"id": 1}, {"name": "a"}), ({"id": 2}, {"id": 3, "name": "b"})])
    lab.finish(UPSERT, t=name, more="")
    assert lab.pairs(f"{name}-copy") == [({"id": 1}, {"id": 1, "name": "a"}), ({"id": 3}, {"id": 3, "name": "b"})]


def test_select_on_an_upsert_table_shows_changes(lab: Lab, topic: TopicFactory) -> None:
    """Decision 16."""
    name = topic(**{"cleanup.policy": "compact"})
    pairs: list[tuple[Any, Any]] = [({"id": 1}, {"id": 1, "name": "a"}), ({"id": 1}, {"id": 1, "name": "b"})]
    lab.put_pairs(name, [*pairs, ({"id": 2}, {"id": 2, "name": "c"}), ({"id": 2}, None)])
    script = UPSERT.replace("INSERT INTO copy SELECT * FROM t", "SELECT id, name FROM t")
    lab.finish(script, t=name, more=", 'scan.max-rows-per-batch' = '1'")
    assert lab.shown == [
        ("+I", (1, "a")),
        ("-U", (1, "a")),
        ("+U", (1, "b")),
        ("+I", (2, "c")),
        ("-D", (2, "c")),
    ]


def test_transactions_that_were_aborted_are_not_read(lab: Lab, topic: TopicFactory) -> None:
    """Decision 11: read_committed unless the user says otherwise."""
    from confluent_kafka import Producer

    name = topic()
    producer = Producer({**lab.client.config, "transactional.id": name})
    producer.init_transactions(60)
    for number, finish in ((1, producer.commit_transaction), (2, producer.abort_transaction)):
        producer.begin_transaction()
        producer.produce(name, json.dumps({"id": number}))
        producer.flush(60)
        finish(60)
    lab.until(lambda: lab.client.end_offsets(name, committed=True) == lab.client.end_offsets(name))
    lab.finish(TABLE + "SELECT id FROM t;", t=name, options="{once}")
    assert ids(lab) == [1]
    lab.shown.clear()
    lab.finish(
        "SELECT id FROM t /*+ OPTIONS('properties.isolation.level' = 'read_uncommitted') */;",
    )
    assert ids(lab) == [1, 2]


def test_one_message_may_hold_several_rows(lab: Lab, topic: TopicFactory) -> None:
    name = topic()
    lab.put(name, [{"id": 1}, {"id": 2}], {"id": 3}, [])
    job = lab.finish(TABLE + "SELECT id FROM t;", t=name, options="{once}")
    assert ids(lab) == [1, 2, 3]
    assert job.progress.rows_in == 3


def test_bytes_and_keys_of_any_format(labs: Callable[..., Lab], topic: TopicFactory) -> None:
    """A raw key beside a json value, both ways."""
    lab, name = labs(), topic()
    lab.client.produce(name, [("k1", json.dumps({"v": base64.b64encode(b"\x00\xff").decode()})), (None, "{}")])
    lab.finish(
        """
        CREATE TABLE t (k STRING, v BYTES) WITH ('connector' = 'kafka', 'topic' = '{t}', {kafka}, {once},
            'key.format' = 'raw', 'key.fields' = 'k', 'value.format' = 'json', 'value.fields-include' = 'EXCEPT_KEY');
        SELECT k, v FROM t;
        """,
        t=name,
    )
    assert lab.shown == [("+I", ("k1", b"\x00\xff")), ("+I", (None, None))]
