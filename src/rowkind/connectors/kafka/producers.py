"""Writing Arrow batches of payloads to Kafka. Runs in a Python worker; producers stay open between batches."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from confluent_kafka import KafkaError, KafkaException

from rowkind.connectors.kafka import librdkafka
from rowkind.connectors.kafka.clients import AUTHENTICATION, AUTHORIZATION, Properties, named, open_producer
from rowkind.connectors.kafka.kept_clients import KeptClients
from rowkind.connectors.kafka.partitioners import Partitioner
from rowkind.connectors.kafka.properties import producer_config
from rowkind.connectors.kafka.sending import BulkSender, Headers, MessageSender, Outgoing, Sender
from rowkind.errors import RowkindError
from rowkind.metrics.traffic import Traffic

LIMIT = 16
"""Producers kept in one process."""

_FULL_QUEUE_SECONDS = 0.005
_SLICE = 5_000
"""Messages that are handed over before the client is heard."""
_SHORT_LINGER = 100
"""Milliseconds. Whoever waits longer for more messages is not served in bulk: there the wait cannot be cut short."""
_TOO_LARGE = frozenset({KafkaError.MSG_SIZE_TOO_LARGE, KafkaError.INVALID_MSG_SIZE})
_NO_BOUND = {"queue.buffering.max.messages": 0, "queue.buffering.max.kbytes": 2**31 - 1}
"""The queue is bounded here: a client that refuses a message in the middle of a batch changes the order of a key's."""


class MessageProducer:
    """A producer, and the first error it met. After an error it is of no more use.

    `settings` are librdkafka's own and reach the producer as they are: a transactional id makes it transactional,
    and the caller then begins and commits around `write` on `producer`.
    """

    def __init__(self, properties: Properties, topic: str | None = None, **settings: Any) -> None:
        self.properties = properties
        self.topic = topic
        self.written = 0
        self._traffic: dict[str, Traffic] = {}
        self._handed: dict[str, float] = {}
        """When messages to a topic were last handed over, until they are acknowledged."""
        self._failure: RowkindError | None = None
        self._partitions: dict[str, Sequence[int]] = {}
        bounds = producer_config(properties).values
        self._most_messages = int(bounds["queue.buffering.max.messages"])
        self._most_bytes = int(bounds["queue.buffering.max.kbytes"]) * 1024
        self.producer, self._reports = open_producer(properties, **settings, **_NO_BOUND)
        self._sender: Sender | None = None
        self._in_bulk = librdkafka.usable() and int(bounds.get("linger.ms", 0)) <= _SHORT_LINGER
        self._patience = int(properties.get("max.block.ms", "60000")) / 1000

    def write(
        self,
        batch: pa.RecordBatch,
        partitioner: Partitioner | None = None,
        rows: Callable[[], Sequence[Mapping[str, Any]]] | None = None,
    ) -> None:
        """Hand over messages in order: columns `key`, `value`, and if there are any `topic`, `partition`, `timestamp`,
        `headers` or `header-list`. `rows` gives the table's rows to a partitioner of the user's own.
        """
        size = batch.num_rows
        if not size:
            return
        if "partition" not in batch.schema.names and partitioner is not None:
            chosen = self._chosen(partitioner, batch, rows() if rows else [None] * size)
            batch = batch.append_column("partition", pa.array(chosen, pa.int32()))
        step = min(_SLICE, self._most_messages)
        for at in range(0, size, step):
            for messages in self._outgoing(batch.slice(at, step)):
                self._send(messages)
        self.written += size

    def flush(self, wait: bool = True) -> None:
        """Wait until the broker has everything, and raise the first failure. Without waiting: only look for one."""
        if self._sender is not None:
            self._sender.serve(0)
            while wait and len(self.producer) and not self._failure:
                self._sender.finish(0.5)
        self._raise_failure()
        self._reports.errors.clear()
        self._partitions.clear()  # partitions may be added while a job runs
        if wait:
            acknowledged = time.monotonic()
            for topic, handed in self._handed.items():
                self._traffic[topic].send_time = (acknowledged - handed) * 1000
            self._handed.clear()

    def take_traffic(self) -> dict[str, Traffic]:
        """What was handed over since the last call, by topic."""
        taken, self._traffic = self._traffic, {}
        self._handed.clear()
        return taken

    def discard(self) -> None:
        """Forget what was not sent yet."""
        with suppress(KafkaException):  # of a producer that was fenced
            self.producer.purge()
            self.producer.flush(0)

    def _outgoing(self, batch: pa.RecordBatch) -> Iterator[Outgoing]:
        """The messages topic by topic; the order within each is kept."""
        if "topic" not in batch.schema.names:
            yield _messages(batch, self._one_topic())
            return
        topics = batch.column("topic")
        for topic in topics.unique().to_pylist():
            yield _messages(batch.filter(pc.equal(topics, topic)), topic)

    def _send(self, messages: Outgoing) -> None:
        sender = self._sender_for(messages)
        self._wait_for_room(sender, messages)
        sender.send(messages)
        self._traffic.setdefault(messages.topic, Traffic()).wrote(len(messages), messages.bytes)
        self._handed[messages.topic] = time.monotonic()
        sender.serve(0)
        self._raise_failure()

    def _sender_for(self, messages: Outgoing) -> Sender:
        wanted = BulkSender if self._in_bulk and messages.plain else MessageSender
        if not isinstance(self._sender, wanted):
            self.flush()
            if wanted is BulkSender:
                self._sender = BulkSender(self.producer, self._reports, self._failed)
            else:
                self._sender = MessageSender(self.producer, self._failed)
        assert self._sender is not None
        return self._sender

    def _wait_for_room(self, sender: Sender, messages: Outgoing) -> None:
        """Until the messages fit into the queue, as far as their own size tells that of those before them."""
        each = max(1, messages.values.nbytes // len(messages))
        most = max(0, min(self._most_messages, self._most_bytes // each) - len(messages))
        before, deadline = len(self.producer), time.monotonic() + self._patience
        while (now := len(self.producer)) > most:
            if now < before:
                before, deadline = now, time.monotonic() + self._patience
            sender.serve(_FULL_QUEUE_SECONDS)
            self._raise_failure()
            if time.monotonic() > deadline:
                error = KafkaError(KafkaError._TIMED_OUT, "the queue of unsent messages stayed full")
                raise named(error, self.properties, "writing", tuple(self._reports.errors))

    def _chosen(
        self, partitioner: Partitioner, batch: pa.RecordBatch, rows: Sequence[Mapping[str, Any] | None]
    ) -> list[int]:
        choose = partitioner.partition
        topics = _column(batch, "topic") or [self._one_topic()] * batch.num_rows
        keys, values = (_column(batch, name) or [None] * batch.num_rows for name in ("key", "value"))
        chosen = []
        for topic, key, value, row in zip(topics, keys, values, rows, strict=True):
            known = self._partitions.get(topic) or self._ask_partitions(topic)
            number = choose(row, key, value, topic, known)
            if number not in known:
                raise RowkindError("PARTITIONER_ANSWER", name=type(partitioner).__name__, partition=number, topic=topic)
            chosen.append(number)
        return chosen

    def _ask_partitions(self, topic: str) -> Sequence[int]:
        try:
            found = self.producer.list_topics(topic, timeout=self._patience).topics[topic]
        except KafkaException as error:
            raise self._named(error.args[0], topic, -1) from None
        if found.error is not None:
            raise self._named(found.error, topic, -1)
        self._partitions[topic] = known = range(len(found.partitions))
        return known

    def _one_topic(self) -> str:
        assert self.topic is not None, "a batch without a topic column needs the sink's one topic"
        return self.topic

    def _failed(self, error: KafkaError, topic: str | None, partition: int | None) -> None:
        if self._failure is None:
            self._failure = self._named(error, topic, partition)

    def _raise_failure(self) -> None:
        if self._failure:
            raise self._failure

    def _named(self, error: KafkaError, topic: str | None, partition: int | None) -> RowkindError:
        code = error.code()
        if code in AUTHENTICATION or code in AUTHORIZATION or self._reports.hopeless:
            return named(error, self.properties, f"writing to topic '{topic}'", tuple(self._reports.errors))
        if code in _TOO_LARGE:
            return RowkindError("KAFKA_MESSAGE_TOO_LARGE", topic=topic, reason=error.str())
        where = f"partition {partition}" if partition is not None and partition >= 0 else "no partition chosen yet"
        cause = next((e.str() for e in reversed(self._reports.errors)), None)
        reason = f"{error.str()} ({cause})" if cause else error.str()
        return RowkindError("KAFKA_DELIVERY_FAILED", topic=topic, where=where, reason=reason, code=error.name())


def _column(batch: pa.RecordBatch, name: str) -> list[Any] | None:
    return batch.column(name).to_pylist() if name in batch.schema.names else None


def _messages(batch: pa.RecordBatch, topic: str) -> Outgoing:
    keys = _binary(batch.column("key")) if "key" in batch.schema.names else None
    partitions = _column(batch, "partition")
    return Outgoing(topic, keys, _binary(batch.column("value")), partitions, _milliseconds(batch), _headers(batch))


def _binary(payloads: pa.Array) -> pa.Array:
    return payloads if payloads.type == pa.binary() else payloads.cast(pa.binary())


def _milliseconds(batch: pa.RecordBatch) -> list[int] | None:
    """0 lets the client take its clock, so a message of the very first millisecond of 1970 cannot be written."""
    if "timestamp" not in batch.schema.names:
        return None
    times = batch.column("timestamp")
    millis = times.cast(pa.timestamp("ms", times.type.tz), safe=False).cast(pa.int64())
    lowest = pc.min(millis).as_py()
    if lowest is not None and lowest <= 0:
        raise RowkindError("KAFKA_TIMESTAMP_TOO_OLD", timestamp=lowest)
    return pc.fill_null(millis, 0).to_pylist()  # type: ignore[no-any-return]


def _headers(batch: pa.RecordBatch) -> list[Headers | None] | None:
    """A null entry, or one with a null name, is left out; a null value is kept."""
    if "headers" in batch.schema.names:
        found = batch.column("headers").to_pylist()
        return [None if pairs is None else [p for p in pairs if p[0] is not None] for pairs in found]
    if "header-list" in batch.schema.names:
        found = batch.column("header-list").to_pylist()
        return [
            None if entries is None else [_pair(e) for e in entries if e and e["key"] is not None] for entries in found
        ]
    return None


def _pair(entry: Mapping[str, Any]) -> tuple[str, bytes | None]:
    return entry["key"], entry["value"]


Key = tuple[str, frozenset[tuple[str, str]]]

kept_producers: KeptClients[Key, MessageProducer] = KeptClients(LIMIT, lambda producer: producer.flush())


def producer_for(sink: str, properties: Properties, topic: str | None = None) -> MessageProducer:
    """The producer of a sink in this process, made when first asked for; it stays kept while it is used."""
    key = (sink, frozenset(properties.items()))
    producer = kept_producers.take(key)
    if producer is not None and producer.topic != topic:
        producer.flush()
        producer = None
    if producer is None:
        producer = MessageProducer(properties, topic)
    kept_producers.keep(key, producer)
    return producer


def drop_producer(sink: str, properties: Properties) -> None:
    """After a failed batch: the next one starts with a new one."""
    producer = kept_producers.take((sink, frozenset(properties.items())))
    if producer is not None:
        producer.discard()
