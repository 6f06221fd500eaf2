"""Handing messages to a producer and hearing what became of them: in bulk where that is possible, else one by one."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import repeat
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from rowkind.connectors.kafka import librdkafka
from rowkind.connectors.kafka.client_events import Events
from rowkind.connectors.kafka.clients import Reports
from rowkind.connectors.kafka.librdkafka import (
    ERROR,
    KEY,
    KEY_LENGTH,
    MESSAGE_BYTES,
    PARTITION,
    PAYLOAD,
    PAYLOAD_LENGTH,
    TOPIC,
    Messages,
)

Failed = Callable[[KafkaError, str | None, int | None], None]
"""Told of each failure: the error, and the topic and partition where they are known."""

Headers = list[tuple[str, str | bytes | None]]


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Messages to one topic, in order."""

    topic: str
    keys: pa.Array | None
    values: pa.Array
    partitions: Sequence[int] | None = None
    timestamps: Sequence[int] | None = None
    headers: Sequence[Headers | None] | None = None

    def __len__(self) -> int:
        return len(self.values)

    @property
    def bytes(self) -> int:
        """Of keys and values together."""
        parts = [self.values] if self.keys is None else [self.keys, self.values]
        return sum(pc.sum(pc.binary_length(part)).as_py() or 0 for part in parts)

    @property
    def plain(self) -> bool:
        """Whether nothing but keys, values and partitions is written."""
        return self.timestamps is None and self.headers is None


class Sender(Protocol):
    """One way of using a producer. Both tell failures of delivery while they serve."""

    def send(self, messages: Outgoing) -> None: ...

    def serve(self, seconds: float) -> None:
        """Hear what the client has to tell, waiting so long for the first of it."""
        ...

    def finish(self, seconds: float) -> None:
        """The same when nothing more is to come: what lingers is sent now, where the client can be told so."""
        ...


class BulkSender:
    """Hands over whole batches as memory, which librdkafka copies."""

    def __init__(self, producer: Producer, reports: Reports, failed: Failed) -> None:
        self._producer = producer
        self._failed = failed
        self._handle = librdkafka.handle(producer)
        queue = librdkafka.queue_get_main(self._handle)
        # a method of this object would keep it from being forgotten
        self._events = Events(queue, reports, partial(BulkSender._delivered, weakref.proxy(self)))
        self._topics: dict[str, int] = {}
        librdkafka.let_go(self, _release, queue, self._topics)

    def send(self, messages: Outgoing) -> None:
        words = np.zeros((len(messages), MESSAGE_BYTES // 8), np.int64)
        words[:, PAYLOAD], words[:, PAYLOAD_LENGTH] = _places(messages.values)
        if messages.keys is not None:
            words[:, KEY], words[:, KEY_LENGTH] = _places(messages.keys)
        flags = librdkafka.COPY
        if messages.partitions is not None:
            words[:, PARTITION] = messages.partitions
            flags |= librdkafka.BY_PARTITION
        topic = self._topic(messages.topic)
        taken = librdkafka.produce_batch(topic, librdkafka.ANY_PARTITION, flags, words.ctypes.data, len(messages))
        if taken < len(messages):
            codes = words[:, ERROR].astype(np.int32)
            first = int(np.flatnonzero(codes)[0])
            partition = None if messages.partitions is None else messages.partitions[first]
            self._failed(KafkaError(int(codes[first])), messages.topic, partition)

    def serve(self, seconds: float) -> None:
        self._events.hear(seconds)

    def finish(self, seconds: float) -> None:
        self.serve(seconds)

    def _delivered(self, messages: Messages) -> None:
        errors = messages.errors
        if errors.any():
            first = int(np.flatnonzero(errors)[0])
            topic = librdkafka.topic_name(int(messages.member(TOPIC)[first])).decode()
            partition = int(messages.member(PARTITION)[first].astype(np.int32))
            self._failed(KafkaError(int(errors[first])), topic, partition)

    def _topic(self, name: str) -> int:
        if name not in self._topics:
            found = librdkafka.topic_new(self._handle, name.encode(), None)
            if not found:
                raise KafkaException(librdkafka.last_failure())
            self._topics[name] = found
        return self._topics[name]


def _release(queue: int, topics: dict[str, int]) -> None:
    for topic in topics.values():
        librdkafka.topic_destroy(topic)
    librdkafka.queue_destroy(queue)


def _places(payloads: pa.Array) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Where each payload is and how long; 0 for an absent one."""
    _, offsets, data = payloads.buffers()
    ends = np.frombuffer(offsets, np.int32)[payloads.offset : payloads.offset + len(payloads) + 1].astype(np.int64)
    # An empty payload is one as well, so it needs an address, even if no payload has a byte.
    starts = ends[:-1] + (data.address if data is not None and data.size else ends.ctypes.data)
    if payloads.null_count:
        present = payloads.is_valid().to_numpy(zero_copy_only=False)
        return starts * present, np.diff(ends) * present
    return starts, np.diff(ends)


class MessageSender:
    """Hands over one message after the other, with timestamps and headers."""

    def __init__(self, producer: Producer, failed: Failed) -> None:
        self._producer = producer
        self._failed = failed

    def send(self, messages: Outgoing) -> None:
        produce, topic = self._producer.produce, messages.topic
        keys: Any = repeat(None) if messages.keys is None else messages.keys.to_pylist()
        extras = (messages.partitions or repeat(-1), messages.timestamps or repeat(0), messages.headers or repeat(None))
        for value, key, partition, timestamp, headers in zip(messages.values.to_pylist(), keys, *extras, strict=False):
            try:
                produce(topic, value, key, partition, self._delivered, timestamp=timestamp, headers=headers)
            except KafkaException as error:
                self._failed(error.args[0], topic, partition)
                return

    def serve(self, seconds: float) -> None:
        self._producer.poll(seconds)

    def finish(self, seconds: float) -> None:
        self._producer.flush(seconds)  # does not let messages linger

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is not None:
            self._failed(error, message.topic(), message.partition())
