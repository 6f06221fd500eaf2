"""Messages of one partition as Arrow batches: in bulk where that is possible, else message by message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa
from confluent_kafka import Consumer, KafkaError, KafkaException, Message, TopicPartition

from rowkind.catalog.metadata import READABLE
from rowkind.catalog.types import arrow_field, arrow_type
from rowkind.kafka import librdkafka
from rowkind.kafka.librdkafka import KEY, KEY_LENGTH, OFFSET, PAYLOAD, PAYLOAD_LENGTH, Messages
from rowkind.kafka.metadata import metadata_array
from rowkind.kafka.ranges import Partition

OFFSETS = "offset"
_IN_BULK = frozenset({"topic", "partition", OFFSETS, "timestamp"})


@dataclass(frozen=True, slots=True)
class ReadFields:
    """What to take from each message: payloads, then metadata by key, in this order of columns."""

    key: bool = True
    value: bool = True
    metadata: tuple[str, ...] = ()

    @property
    def schema(self) -> pa.Schema:
        payloads = [pa.field(name, pa.binary()) for name, asked in (("key", self.key), ("value", self.value)) if asked]
        return pa.schema([*payloads, *(arrow_field(name, READABLE[name]) for name in self.metadata)])

    def batch(self, columns: Sequence[pa.Array], rows: int) -> pa.RecordBatch:
        if not columns:
            return pa.RecordBatch.from_struct_array(pa.array([{}] * rows, pa.struct([])))
        return pa.RecordBatch.from_arrays(list(columns), schema=self.schema)

    @property
    def none(self) -> pa.RecordBatch:
        return self.batch([pa.nulls(0, f.type) for f in self.schema], 0)


class Event(NamedTuple):
    """What the client tells of a partition among its messages: its end, or an error."""

    error: KafkaError
    offset: int


@dataclass(slots=True)
class Fetched:
    """Messages in order with their offsets, and what was told besides."""

    rows: pa.RecordBatch
    offsets: librdkafka.Words
    events: list[Event] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.offsets)

    def __getitem__(self, part: slice) -> Fetched:
        start, stop, _ = part.indices(len(self))
        return Fetched(self.rows.slice(start, stop - start), self.offsets[part])

    def followed_by(self, more: Fetched) -> Fetched:
        return Fetched(pa.concat_batches([self.rows, more.rows]), np.concatenate([self.offsets, more.offsets]))

    @property
    def bytes(self) -> int:
        return int(self.rows.nbytes)


class Fetcher(Protocol):
    """The messages of one partition, from an offset on."""

    def fetch(self, limit: int, seconds: float) -> Fetched:
        """So many messages at most; none if none came in this time."""
        ...

    def close(self) -> None: ...


def fetcher(consumer: Consumer, partition: Partition, offset: int, fields: ReadFields) -> Fetcher:
    if librdkafka.USABLE and _IN_BULK.issuperset(fields.metadata):
        return BulkFetcher(consumer, partition, offset, fields)
    return MessageFetcher(consumer, partition, offset, fields)


class BulkFetcher:
    """Takes whole batches out of librdkafka's memory."""

    def __init__(self, consumer: Consumer, partition: Partition, offset: int, fields: ReadFields) -> None:
        self._consumer = consumer
        self._partition = partition
        self._fields = fields
        handle = librdkafka.handle(consumer)
        self._topic = librdkafka.topic_new(handle, partition.topic.encode(), None)
        self._queue = librdkafka.queue_new(handle)
        if librdkafka.consume_start(self._topic, partition.partition, offset, self._queue) != 0:
            raise KafkaException(librdkafka.last_failure())

    def fetch(self, limit: int, seconds: float) -> Fetched:
        pointers = np.zeros(limit, np.int64)
        count = librdkafka.consume_batch(self._queue, int(seconds * 1000), pointers.ctypes.data, limit)
        if count <= 0:
            self._consumer.poll(0)  # what the client has to report goes to a queue of its own
            return Fetched(self._fields.none, pointers[:0])
        messages = Messages(pointers[:count])
        try:
            errors = messages.errors
            return self._with_events(messages, errors) if errors.any() else self._taken(messages)
        finally:
            messages.release()

    def _with_events(self, messages: Messages, errors: librdkafka.Words) -> Fetched:
        told = Messages(messages.pointers[errors != 0])
        codes, offsets = told.errors.astype(np.int32).tolist(), told.member(OFFSET).tolist()
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
        return Fetched(self._fields.batch(columns, len(messages)), offsets)

    def _metadata(self, name: str, messages: Messages, offsets: librdkafka.Words) -> pa.Array:
        type = arrow_type(READABLE[name])
        if name == OFFSETS:
            return pa.array(offsets, type)
        if name == "timestamp":
            return pa.array(messages.timestamps() * 1000, pa.int64()).cast(type)
        value = self._partition.topic if name == "topic" else self._partition.partition
        return pa.repeat(pa.scalar(value, type), len(messages))

    def close(self) -> None:
        librdkafka.consume_stop(self._topic, self._partition.partition)
        librdkafka.queue_destroy(self._queue)
        librdkafka.topic_destroy(self._topic)


class MessageFetcher:
    """Takes the client's message objects, which tell headers and leader epochs too."""

    def __init__(self, consumer: Consumer, partition: Partition, offset: int, fields: ReadFields) -> None:
        self._consumer = consumer
        self._fields = fields
        consumer.assign([TopicPartition(*partition, offset)])

    def fetch(self, limit: int, seconds: float) -> Fetched:
        consumed = self._consumer.consume(limit, seconds)
        told = [(m.error(), m.offset() or 0) for m in consumed if m.error() is not None]
        messages = [m for m in consumed if m.error() is None] if told else consumed
        offsets = np.fromiter(map(Message.offset, messages), np.int64, len(messages))
        return Fetched(self._rows(messages), offsets, [Event(e, at) for e, at in told if e is not None])

    def _rows(self, messages: list[Message]) -> pa.RecordBatch:
        if not messages:
            return self._fields.none
        columns = []
        if self._fields.key:
            columns.append(pa.array(list(map(Message.key, messages)), pa.binary()))
        if self._fields.value:
            columns.append(pa.array(list(map(Message.value, messages)), pa.binary()))
        columns += [metadata_array(name, messages) for name in self._fields.metadata]
        return self._fields.batch(columns, len(messages))

    def close(self) -> None:
        """The consumer's own closing ends the assignment."""
