"""The fixtures that other tests stand on."""

from __future__ import annotations

import pytest

from tests.kafka_client import KafkaClient, Record, TopicFactory

pytestmark = pytest.mark.kafka


def test_what_is_produced_is_consumed(kafka_client: KafkaClient, topic: TopicFactory) -> None:
    name = topic(partitions=3)
    kafka_client.produce(name, [(f"k{i}", f"v{i}") for i in range(1000)])
    records = kafka_client.consume_all(name)
    assert {(r.key, r.value) for r in records} == {(b"k%d" % i, b"v%d" % i) for i in range(1000)}
    assert {r.partition for r in records} == {0, 1, 2}


def test_partition_timestamp_headers_and_nulls_survive(kafka_client: KafkaClient, topic: TopicFactory) -> None:
    name = topic(partitions=2)
    record = Record(b"k", None, partition=1, timestamp=1_700_000_000_000, headers=(("h", b"1"), ("h", None)))
    kafka_client.produce(name, [record])
    assert kafka_client.consume_all(name) == [
        Record(b"k", None, 1, 0, 1_700_000_000_000, (("h", b"1"), ("h", None)), name)
    ]


def test_transactions_are_read_when_committed(kafka_client: KafkaClient, topic: TopicFactory) -> None:
    name = topic()
    kafka_client.produce(name, [("a", "1")], **{"transactional.id": name})
    assert [r.value for r in kafka_client.consume_all(name)] == [b"1"]


def test_an_empty_topic_has_no_records(kafka_client: KafkaClient, topic: TopicFactory) -> None:
    assert kafka_client.consume_all(topic(partitions=2)) == []
