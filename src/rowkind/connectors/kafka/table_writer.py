"""The rows of one task on their way to Kafka: plainly, or as one transaction with the marker of the batch.

The producer stays open in the process after its task; after an error nothing of it is kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from rowkind.connectors.contract import Promise, WriteContext, Writer
from rowkind.connectors.kafka.clients import Properties
from rowkind.connectors.kafka.encoding import MessageEncoder
from rowkind.connectors.kafka.partitioners import partitioner_named
from rowkind.connectors.kafka.producers import MessageProducer, drop_producer, producer_for
from rowkind.connectors.kafka.topic_table import TopicTable
from rowkind.connectors.kafka.transactions import Fenced, TransactionalProducer, give_back, transaction
from rowkind.errors import RowkindError
from rowkind.metrics.traffic import Traffic


class MessageWriter(Writer):
    """Writes messages: rows with the columns that a `MessageProducer` takes."""

    def __init__(self, properties: Properties, producer: MessageProducer, context: WriteContext) -> None:
        self._properties = properties
        self._producer = producer
        self._context = context

    def write(self, rows: pa.RecordBatch) -> None:
        self._producer.write(rows)

    def flush(self, wait: bool) -> None:
        self._producer.flush(wait=wait)

    def commit(self) -> None:
        promise, producer = self._context.promise, self._producer
        assert promise is not None
        assert isinstance(producer, TransactionalProducer)
        with _fencing(promise, self._context.task):
            producer.commit(promise)

    def close(self, failed: bool) -> None:
        promise, producer = self._context.promise, self._producer
        if not failed:
            for topic, traffic in producer.take_traffic().items():
                self._context.traffic.setdefault(topic, Traffic()).add(traffic)
        if isinstance(producer, TransactionalProducer) and promise is not None:
            if failed:
                producer.close()
            else:
                give_back(promise, self._context.task, producer)
        elif failed:
            drop_producer(self._context.sink, self._properties)


class RowWriter(MessageWriter):
    """Writes the rows of a table."""

    def __init__(self, table: TopicTable, producer: MessageProducer, context: WriteContext) -> None:
        super().__init__(table.properties, producer, context)
        self._encoder = _encoder(table)
        self._encoder.counts = context.counts
        self._partitioner = partitioner_named(table.writing.partitioner)
        if self._partitioner is not None:
            self._partitioner.open(context.task, context.tasks)

    def write(self, rows: pa.RecordBatch) -> None:
        partitioner = self._partitioner
        self._producer.write(self._encoder.encode(rows), partitioner, rows.to_pylist if partitioner else None)


@lru_cache(maxsize=32)
def _encoder(table: TopicTable) -> MessageEncoder:
    return MessageEncoder(table)


@dataclass(frozen=True, slots=True)
class Messages:
    """Topics of a cluster, for rows that are messages already and name their topic. Picklable."""

    properties: tuple[tuple[str, str], ...]

    def writer(self, context: WriteContext) -> MessageWriter | None:
        """As that of a table."""
        properties = dict(self.properties)
        producer = opened(properties, None, context)
        return None if producer is None else MessageWriter(properties, producer, context)


def row_writer(table: TopicTable, context: WriteContext) -> RowWriter | None:
    """The writer of a task; None when its rows are in already, by an earlier run of the batch."""
    topic = table.topics[0] if len(table.topics) == 1 else None
    producer = opened(table.properties, topic, context)
    return None if producer is None else RowWriter(table, producer, context)


def opened(properties: Properties, topic: str | None, context: WriteContext) -> MessageProducer | None:
    if context.promise is None:
        return producer_for(context.sink, properties, topic)
    with _fencing(context.promise, context.task):
        return transaction(properties, topic, context.promise, context.task)


@contextmanager
def _fencing(promise: Promise, task: int) -> Iterator[None]:
    """Another run has the transactions of this task now."""
    try:
        yield
    except Fenced:
        raise RowkindError("TRANSACTION_FENCED", id=promise.insert.transactional_id(task)) from None
