"""Every place where reading may stop, on topics with empty partitions, transactions, and holes: all in one job."""

from __future__ import annotations

import json

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition

from rowkind.broker.process import wait_until
from tests.e2e.lab import SECONDS, Lab
from tests.kafka_client import KafkaClient, Record, TopicFactory

pytestmark = [pytest.mark.kafka, pytest.mark.spark]

BOUNDS = {
    "latest": "'scan.bounded.mode' = 'latest-offset'",
    "timestamp": "'scan.bounded.mode' = 'timestamp', 'scan.bounded.timestamp-millis' = '2000'",
    "late": "'scan.bounded.mode' = 'timestamp', 'scan.bounded.timestamp-millis' = '9000'",
    "specific": "'scan.bounded.mode' = 'specific-offsets', "
    "'scan.bounded.specific-offsets' = 'partition:0,offset:3;partition:1,offset:1'",
    "short": "'scan.bounded.mode' = 'specific-offsets', 'scan.bounded.specific-offsets' = 'partition:0,offset:3'",
    "group": "'scan.bounded.mode' = 'group-offsets'",
}

TABLES = """
    CREATE TABLE events (id INT, n INT) WITH ('connector' = 'kafka', 'topic' = '{plain}', {kafka}, {json},
        'scan.startup.mode' = 'earliest-offset', 'properties.group.id' = '{plain}');
    CREATE TABLE moved WITH ('topic' = '{moved}') LIKE events (OVERWRITING OPTIONS);
    CREATE TABLE holes WITH ('topic' = '{holes}') LIKE events (OVERWRITING OPTIONS);
    CREATE TABLE states (id INT, n INT, PRIMARY KEY (id) NOT ENFORCED) WITH ('connector' = 'upsert-kafka',
        'topic' = '{states}', {kafka}, 'key.format' = 'json', 'value.format' = 'json',
        'properties.group.id' = '{states}');
    CREATE TABLE found (bound STRING, id INT, n INT, PRIMARY KEY (bound, id) NOT ENFORCED) WITH (
        'connector' = 'upsert-kafka', 'topic' = '{found}', {kafka}, 'key.format' = 'json', 'value.format' = 'json');
"""

WANTED = {
    "events latest": {0: 0, 1: 1, 2: 2, 3: 3, 10: 10, 11: 11},
    "events timestamp": {0: 0, 1: 1, 10: 10},
    "events late": {0: 0, 1: 1, 2: 2, 3: 3, 10: 10, 11: 11},
    "events specific": {0: 0, 1: 1, 2: 2, 10: 10},
    "events group": {0: 0, 1: 1, 10: 10},
    "states latest": {0: 3, 2: 5},
    "states timestamp": {0: 0, 1: 1},
    "states late": {0: 3, 2: 5},
    "states short": {0: 0, 1: 1, 2: 2},
    "states group": {0: 3, 1: 1, 2: 2},
    "moved latest": {1: 1, 2: 2},
    "moved short": {1: 1, 2: 2},
    "holes latest": {0: 95, 1: 96, 2: 97, 3: 98, 9: 0},
    "holes short": {},
}


def message(id: int, n: int, timestamp: int, partition: int = 0) -> Record:
    value = json.dumps({"id": id, "n": n}).encode()
    return Record(b'{"id":%d}' % id, value, partition, timestamp=timestamp)


def commit(client: KafkaClient, topic: str, offsets: dict[int, int]) -> None:
    """As offsets of the group that has the topic's name."""
    consumer = Consumer({**client.config, "group.id": topic})
    consumer.commit(offsets=[TopicPartition(topic, p, at) for p, at in offsets.items()], asynchronous=False)
    consumer.close()


def plain(client: KafkaClient, topic: TopicFactory) -> str:
    """Three partitions, the last one empty."""
    name = topic(partitions=3)
    client.produce(name, [message(i, i, 1000 + 500 * i) for i in range(4)])
    client.produce(name, [message(10 + i, 10 + i, 1000 + 2000 * i, 1) for i in range(2)])
    commit(client, name, {0: 2, 1: 1, 2: 0})
    return name


def keyed(client: KafkaClient, topic: TopicFactory) -> str:
    """Three keys, each twice; at the end one of them is deleted."""
    name = topic(partitions=2)
    client.produce(name, [message(i % 3, i, 1000 + 500 * i) for i in range(6)])
    client.produce(name, [Record(b'{"id":1}', None, 0, timestamp=4000)])
    commit(client, name, {0: 4, 1: 0})
    return name


def transactional(client: KafkaClient, topic: TopicFactory) -> str:
    """A transaction that is committed, and one that is not: no bound may wait for its messages."""
    name = topic()
    producer = Producer({**client.config, "transactional.id": name})
    producer.init_transactions(60)
    for ids, finish in (((1, 2), producer.commit_transaction), ((3, 4), producer.abort_transaction)):
        producer.begin_transaction()
        for id in ids:
            producer.produce(name, json.dumps({"id": id, "n": id}))
        producer.flush(60)
        finish(60)
    assert wait_until(lambda: client.end_offsets(name, committed=True) == client.end_offsets(name), SECONDS)
    return name


def compacted(client: KafkaClient, topic: TopicFactory) -> str:
    """Most offsets are gone: rows 0 to 94, and with its tombstone the key 4."""
    quick = {"cleanup.policy": "compact", "segment.ms": "50", "min.cleanable.dirty.ratio": "0.001"}
    name = topic(**quick, **{"delete.retention.ms": "0", "max.compaction.lag.ms": "1"})
    client.produce(name, [(b'{"id":%d}' % (i % 5), b'{"id":%d,"n":%d}' % (i % 5, i)) for i in range(100)])
    client.produce(name, [(b'{"id":4}', None)])

    def has_holes() -> bool:
        client.produce(name, [(b'{"id":9}', b'{"id":9,"n":0}')])  # a new message closes the segment before it
        found = client.consume_all(name)
        return all(r.offset >= 95 for r in found) and not any(r.key == b'{"id":4}' for r in found)

    assert wait_until(has_holes, SECONDS)
    return name


def test_every_bound_on_every_kind_of_topic(lab: Lab, topic: TopicFactory) -> None:
    names = {
        "plain": plain(lab.client, topic),
        "states": keyed(lab.client, topic),
        "moved": transactional(lab.client, topic),
        "holes": compacted(lab.client, topic),
        "found": topic(**{"cleanup.policy": "compact"}),
    }
    inserts = [
        f"INSERT INTO found SELECT '{case}', id, n FROM {table} /*+ OPTIONS({BOUNDS[bound]}) */;"
        for case in WANTED
        for table, bound in [case.split()]
    ]
    job = lab.finish(f"{TABLES} EXECUTE STATEMENT SET BEGIN {' '.join(inserts)} END;", **names)
    assert job.status == "finished"
    table = {(k["bound"], k["id"]): v and v["n"] for k, v in lab.pairs(names["found"])}
    found = {case: {id: n for (bound, id), n in table.items() if bound == case and n is not None} for case in WANTED}
    assert found == WANTED
