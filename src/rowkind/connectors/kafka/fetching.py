"""Messages of one partition as Arrow batches, and the way of getting them message by message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from rowkind.connectors.kafka.clients import Properties, Reports, open_consumer
from rowkind.connectors.kafka.metadata import READABLE
from rowkind.connectors.kafka.metadata_columns import metadata_array
from rowkind.connectors.kafka.ranges import Partition
from rowkind.types import arrow_field


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
    offsets: npt.NDArray[np.int64]
    events: list[Event] = field(default_factory=list)
    sizes: npt.NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    """Bytes of each message, key and value: also of a key that nobody asked for."""
    times: tuple[int, int] = (-1, -1)
    """Kafka's timestamps of the first and the last message, in milliseconds; -1 where there is none."""

    def __len__(self) -> int:
        return len(self.offsets)

    def __getitem__(self, part: slice) -> Fetched:
        start, stop, _ = part.indices(len(self))
        first, last = self.times
        # Of a part, the nearest one that is known: between two messages of one fetch that makes no difference.
        times = first if start == 0 else last, last if stop == len(self) else first
        return Fetched(self.rows.slice(start, stop - start), self.offsets[part], [], self.sizes[part], times)

    def followed_by(self, more: Fetched) -> Fetched:
        rows = pa.concat_batches([self.rows, more.rows])
        offsets, sizes = (np.concatenate(pair) for pair in ((self.offsets, more.offsets), (self.sizes, more.sizes)))
        return Fetched(rows, offsets, [], sizes, (self.times[0], more.times[1]))

    @property
    def bytes(self) -> int:
        return int(self.rows.nbytes)


class Fetcher(Protocol):
    """A consumer of one partition, from an offset on."""

    reports: Reports

    def fetch(self, limit: int, seconds: float) -> Fetched:
        """So many messages at most; none if none came in this time."""
        ...

    def position(self) -> int:
        """Where the next message is looked for, past transaction markers; negative before the first one."""
        ...

    def watermarks(self, seconds: float) -> tuple[int, int]:
        """The first offset that the broker has, and the next one that it will give."""
        ...

    def close(self) -> None: ...


class MessageFetcher:
    """Takes the client's message objects, which tell headers and leader epochs too."""

    def __init__(self, properties: Properties, partition: Partition, offset: int, fields: ReadFields) -> None:
        self._consumer, self.reports = open_consumer(properties)
        self._partition = TopicPartition(*partition)
        self._fields = fields
        self._consumer.assign([TopicPartition(*partition, offset)])

    def fetch(self, limit: int, seconds: float) -> Fetched:
        consumed = self._consumer.consume(limit, seconds)
        told = [(m.error(), m.offset() or 0) for m in consumed if m.error() is not None]
        messages = [m for m in consumed if m.error() is None] if told else consumed
        offsets = np.fromiter(map(Message.offset, messages), np.int64, len(messages))
        events = [Event(e, at) for e, at in told if e is not None]
        sizes = np.fromiter((len(m.key() or b"") + len(m.value() or b"") for m in messages), np.int64, len(messages))
        times = (messages[0].timestamp()[1], messages[-1].timestamp()[1]) if messages else (-1, -1)
        return Fetched(self._rows(messages), offsets, events, sizes, times)

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

    def position(self) -> int:
        return int(self._consumer.position([self._partition])[0].offset)

    def watermarks(self, seconds: float) -> tuple[int, int]:
        answer = self._consumer.get_watermark_offsets(self._partition, timeout=seconds)
        if answer is None:
            raise KafkaException(KafkaError(KafkaError._TIMED_OUT))
        return answer

    def close(self) -> None:
        self._consumer.close()
