"""The servers and foreign clients that other tests compare with."""

from __future__ import annotations

import json

import httpx
import pytest

from tests.kafka_client import KafkaClient, Record, TopicFactory
from tests.servers.console import console_consume

pytestmark = pytest.mark.kafka


def test_the_registry_speaks_confluents_api(schema_registry: str) -> None:
    schema = json.dumps({"type": "record", "name": "R", "fields": [{"name": "a", "type": "long"}]})
    answer = httpx.post(f"{schema_registry}/subjects/s-value/versions", json={"schema": schema}, timeout=60)
    identity = answer.raise_for_status().json()["id"]
    stored = httpx.get(f"{schema_registry}/schemas/ids/{identity}", timeout=60).raise_for_status().json()
    assert json.loads(stored["schema"]) == json.loads(schema)


def test_the_console_consumer_reads_what_librdkafka_wrote(
    kafka: str, kafka_client: KafkaClient, topic: TopicFactory
) -> None:
    name = topic(partitions=2)
    written = [("a", "1"), ("b", None), (None, "ü"), ("c", ""), ("d", "two\nlines")]
    kafka_client.produce(name, written)
    read = console_consume(kafka, name, messages=5)
    assert [_untimed(record) for record in kafka_client.consume_all(name)] == read


def _untimed(record: Record) -> Record:
    return Record(record.key, record.value, record.partition, record.offset, topic=record.topic)
