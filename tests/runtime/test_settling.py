"""Transactions that an earlier run left open, on more than one cluster."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa
import pytest

from rowkind.broker import Broker
from rowkind.connectors.contract import Marker, Promise, Used
from rowkind.connectors.kafka.table import KafkaTable
from rowkind.connectors.kafka.transactions import Insert, TransactionalProducer
from rowkind.connectors.settings import Side
from rowkind.runtime.driver.delivery import settle
from tests.kafka_client import KafkaClient
from tests.runtime.tables import APPEND, table

pytestmark = pytest.mark.kafka


@pytest.fixture(scope="module")
def second() -> Iterator[KafkaClient]:
    with Broker.start() as broker:
        yield KafkaClient(broker.bootstrap)


def sink(client: KafkaClient, topic: str) -> KafkaTable:
    return table("id INT", {**APPEND, "topic": topic, "properties.bootstrap.servers": client.bootstrap}, Side.SINK)


def left_open(client: KafkaClient, topic: str) -> Used:
    """A batch is in; the next one is written, and its transaction stays open."""
    insert = Insert(topic, "t.1", "here", topic)
    writer = TransactionalProducer({"bootstrap.servers": client.bootstrap}, topic, insert, 0)
    for version in (6, 7):
        promise = Promise(insert, version, f"entry {version}")
        writer.begin(promise, 60)
        writer.write(pa.record_batch({"value": pa.array([b"a row"])}))
        writer.flush()
        if version == 6:
            writer.commit(promise)
    assert is_open(client, topic)
    return Used(topic, "t.1", client.bootstrap, 0, {"marker-topic": topic})


def is_open(client: KafkaClient, topic: str) -> bool:
    return client.end_offsets(topic) != client.end_offsets(topic, committed=True)


def test_each_cluster_is_asked_for_its_own(kafka_client: KafkaClient, second: KafkaClient) -> None:
    clients = [kafka_client, second]
    topics = [client.unique_topic() for client in clients]
    used = [left_open(client, topic) for client, topic in zip(clients, topics, strict=True)]
    tables = [sink(client, topic) for client, topic in zip(clients, topics, strict=True)]
    markers, notes = settle(used, tables, "here")
    assert markers == [(one, Marker(6, "entry 6")) for one in used]
    assert not notes
    assert not any(is_open(client, topic) for client, topic in zip(clients, topics, strict=True))


def test_a_removed_insert_is_reached_through_another_table_of_its_cluster(kafka_client: KafkaClient) -> None:
    topic = kafka_client.unique_topic()
    settle([left_open(kafka_client, topic)], [sink(kafka_client, "another")], "here")
    assert not is_open(kafka_client, topic)


def test_a_cluster_that_no_table_is_at_is_told(kafka_client: KafkaClient) -> None:
    gone = Used("prefix", "t.1", "elsewhere:9092", 0, {"marker-topic": "t"})
    markers, notes = settle([gone, gone], [sink(kafka_client, "t")], "here")
    assert not markers
    assert [("elsewhere:9092" in note, "prefix" in note) for note in notes] == [(True, True)]
