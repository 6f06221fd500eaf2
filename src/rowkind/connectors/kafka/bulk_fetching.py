"""Messages of one partition taken out of librdkafka's memory in whole batches."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException

from rowkind.connectors.kafka import librdkafka
from rowkind.connectors.kafka.client_events import Events
from rowkind.connectors.kafka.clients import Properties, Reports, refused
from rowkind.connectors.kafka.fetching import Event, Fetched, ReadFields
from rowkind.connectors.kafka.librdkafka import KEY, KEY_LENGTH, OFFSET, PAYLOAD, PAYLOAD_LENGTH, Messages
from rowkind.connectors.kafka.metadata import READABLE
from rowkind.connectors.kafka.metadata_columns import headers_array
from rowkind.connectors.kafka.properties import consumer_config
from rowkind.connectors.kafka.ranges import Partition
from rowkind.formats.charsets import utf8_text
from rowkind.types import arrow_type

_HEADERS = ("headers", "header-list")
_FIELDS = frozenset({"topic", "partition", "offset", "timestamp", *_HEADERS})


def in_bulk(properties: Properties, fields: ReadFields) -> bool:
    """Whether messages can be taken so: leader epochs are not among the bulk, nor are clients that ask for tokens."""
    settings = consumer_config(properties).values
    return librdkafka.usable() and _FIELDS.issuperset(fields.metadata) and not any(map(callable, settings.values()))


class BulkFetcher:
    """A consumer of its own that is never called back: a callback needs one of the Python client's calls around it."""

    def __init__(self, properties: Properties, partition: Partition, offset: int, fields: ReadFields) -> None:
        self._partition = partition
        self._fields = fields
        self.reports = Reports()
        try:
            self._client = librdkafka.new_consumer(consumer_config(properties).values)
        except librdkafka.Refused as reason:
            raise refused(str(reason), properties) from None
        told = librdkafka.queue_get_main(self._client)
        self._events = Events(told, self.reports)
        self._queue = librdkafka.queue_new(self._client)
        topic = librdkafka.topic_new(self._client, partition.topic.encode(), None)
        self._end = librdkafka.let_go(self, _end, self._client, told, self._queue, topic, partition.partition)
        if librdkafka.consume_start(topic, partition.partition, offset, self._queue) != 0:
            raise KafkaException(librdkafka.last_failure())

    def fetch(self, limit: int, seconds: float) -> Fetched:
        self._events.hear()
        pointers = np.zeros(limit, np.int64)
        count = librdkafka.consume_batch(self._queue, int(seconds * 1000), pointers.ctypes.data, limit)
        if count <= 0:
            return Fetched(self._fields.none, pointers[:0])
        messages = Messages(pointers[:count])
        try:
            errors = messages.errors
            return self._with_events(messages, errors) if errors.any() else self._taken(messages)
        finally:
            messages.release()

    def position(self) -> int:
        return librdkafka.position(self._client, *self._partition)

    def watermarks(self, seconds: float) -> tuple[int, int]:
        return librdkafka.watermarks(self._client, *self._partition, seconds)

    def close(self) -> None:
        self._end()

    def _with_events(self, messages: Messages, errors: npt.NDArray[np.int32]) -> Fetched:
        told = Messages(messages.pointers[errors != 0])
        codes, offsets = told.errors.tolist(), told.member(OFFSET).tolist()
        reasons = told.texts(PAYLOAD, PAYLOAD_LENGTH).to_pylist()
        plain = messages.pointers[errors == 0]
        taken = self._taken(Messages(plain)) if len(plain) else Fetched(self._fields.none, plain)
        for code, reason, offset in zip(codes, reasons, offsets, strict=True):
            error = KafkaError(code, reason.decode(errors="replace")) if reason else KafkaError(code)
            taken.events.append(Event(error, offset))
        return taken

    def _taken(self, messages: Messages) -> Fetched:
        offsets = messages.member(OFFSET)
        columns = []
        if self._fields.key:
            columns.append(messages.texts(KEY, KEY_LENGTH))
        if self._fields.value:
            columns.append(messages.texts(PAYLOAD, PAYLOAD_LENGTH))
        columns += [self._metadata(name, messages, offsets) for name in self._fields.metadata]
        sizes = messages.member(KEY_LENGTH) + messages.member(PAYLOAD_LENGTH)
        ends = Messages(messages.pointers[[0, -1]]).timestamps().tolist()
        return Fetched(self._fields.batch(columns, len(messages)), offsets, [], sizes, (ends[0], ends[1]))

    def _metadata(self, name: str, messages: Messages, offsets: librdkafka.Words) -> pa.Array:
        if name in _HEADERS:
            told = ([(utf8_text(key), value) for key, value in headers] for headers in messages.headers())
            return headers_array(name, list(told))
        type = arrow_type(READABLE[name])
        if name == "offset":
            return pa.array(offsets, type)
        if name == "timestamp":
            return pa.array(messages.timestamps() * 1000, pa.int64()).cast(type)
        value = self._partition.topic if name == "topic" else self._partition.partition
        return pa.repeat(pa.scalar(value, type), len(messages))


def _end(client: int, told: int, queue: int, topic: int, partition: int) -> None:
    librdkafka.consume_stop(topic, partition)
    librdkafka.queue_destroy(queue)
    librdkafka.queue_destroy(told)
    librdkafka.topic_destroy(topic)
    librdkafka.destroy(client)
