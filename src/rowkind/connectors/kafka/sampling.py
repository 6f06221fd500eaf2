"""How large the messages are that wait to be read, from a few of them."""

from __future__ import annotations

import time
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaError, KafkaException, TopicPartition

from rowkind.connectors.kafka.clients import Properties, open_consumer
from rowkind.connectors.kafka.ranges import OffsetRange

PARTITIONS = 4
MESSAGES = 20
BYTES = 4 * 1024 * 1024
SECONDS = 3.0
_SMALL = {"rdkafka.queued.max.messages.kbytes": "1024", "max.partition.fetch.bytes": "65536"}
"""A consumer fetches ahead: here hardly anything."""
_GONE = (KafkaError._AUTO_OFFSET_RESET, KafkaError.OFFSET_OUT_OF_RANGE)
"""What retention has removed, or what is not in the topic that was created again: nothing comes from there."""


def message_bytes(properties: Properties, waiting: Sequence[OffsetRange]) -> int | None:
    """The mean size at the beginning or the end of the longest ranges, whichever is larger. None: none was found."""
    longest = sorted(waiting, key=lambda r: r.start - r.until)[:PARTITIONS]
    consumer, _ = open_consumer({**properties, **_SMALL})
    try:
        first = _mean(consumer, [TopicPartition(r.topic, r.partition, r.start) for r in longest])
        ends = [TopicPartition(r.topic, r.partition, max(r.start, r.until - MESSAGES)) for r in longest]
        return max(first, _mean(consumer, ends)) or None
    except KafkaException:
        return None  # reading itself tells what is wrong
    finally:
        consumer.close()


def _mean(consumer: Consumer, places: list[TopicPartition]) -> int:
    consumer.assign(places)
    sizes: list[int] = []
    gone: set[tuple[str | None, int | None]] = set()
    deadline = time.monotonic() + SECONDS
    while len(sizes) < MESSAGES and sum(sizes) < BYTES and len(gone) < len(places) and time.monotonic() < deadline:
        events = consumer.consume(MESSAGES, 0.02)
        gone |= {(m.topic(), m.partition()) for m in events if (error := m.error()) and error.code() in _GONE}
        found = [m for m in events if m.error() is None]
        sizes += [len(m.key() or b"") + len(m.value() or b"") for m in found]
        if sizes and not found:
            break  # what came is all that is there
    return sum(sizes) // len(sizes) if sizes else 0
