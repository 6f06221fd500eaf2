"""Header names that are not text: any producer may write them, and the client's message objects cannot show them."""

from __future__ import annotations

import ctypes

import pytest
from confluent_kafka import Producer, cimpl

from rowkind.connectors.kafka.fetching import ReadFields
from rowkind.connectors.kafka.librdkafka import handle
from rowkind.connectors.kafka.ranges import OffsetRange
from rowkind.connectors.kafka.reader import read
from tests.kafka_client import SECONDS, KafkaClient, TopicFactory

pytestmark = pytest.mark.kafka

NAMES = [b"caf\xe9", b"\xff\xfe", b"\xed\xa0\x80", b"\x1b[2J", b"../x", b""]
_END, _TOPIC, _VALUE, _FLAGS, _HEADER, _COPY = 0, 1, 4, 7, 9, 2


def produce(client: KafkaClient, topic: str, names: list[bytes]) -> None:
    """One message with a header of each name, by librdkafka itself: its Python client takes only text for a name."""
    producer = Producer({"bootstrap.servers": client.bootstrap})
    headers = [part for name in names for part in (_HEADER, name, b"v", ctypes.c_ssize_t(1))]
    send = ctypes.PyDLL(cimpl.__file__).rd_kafka_producev
    value = (_VALUE, b"x", ctypes.c_size_t(1), _FLAGS, _COPY)
    assert send(ctypes.c_void_p(handle(producer)), _TOPIC, topic.encode(), *value, *headers, _END) == 0
    assert producer.flush(SECONDS) == 0


@pytest.mark.parametrize("field", ["headers", "header-list"])
def test_names_become_text_as_java_reads_them(topic: TopicFactory, kafka_client: KafkaClient, field: str) -> None:
    name = topic()
    produce(kafka_client, name, NAMES)
    properties = {"bootstrap.servers": kafka_client.bootstrap}
    fields = ReadFields(False, True, (field,))
    (rows,) = read(OffsetRange(name, 0, 0, 1), properties, fields, 10)
    (found,) = rows.column(field).to_pylist()
    texts = ["caf\ufffd", "\ufffd\ufffd", "\ufffd", "\x1b[2J", "../x", ""]
    assert [tuple(h) if isinstance(h, tuple) else (h["key"], h["value"]) for h in found] == [(t, b"v") for t in texts]
