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
from rowkind.connectors.kafka.topic_table import TopicTable
from rowkind.connectors.kafka.transactions import Fenced, TransactionalWriter, give_back, transaction
from rowkind.connectors.kafka.writer import Writer as Producing
from rowkind.connectors.kafka.writer import drop_writer, writer_for
from rowkind.errors import RowkindError
from rowkind.metrics.traffic import Traffic


class MessageWriter(Writer):
    """Writes messages: rows with the columns of `kafka.writer`."""

    def __init__(self, properties: Properties, producing: Producing, context: WriteContext) -> None:
        self._properties = properties
        self._producing = producing
        self._context = context

    def write(self, rows: pa.RecordBatch) -> None:
        self._producing.write(rows)

    def flush(self, wait: bool) -> None:
        self._producing.flush(wait=wait)

    def commit(self) -> None:
        promise, writer = self._context.promise, self._producing
        assert promise is not None
        assert isinstance(writer, TransactionalWriter)
        with _fencing(promise, self._context.task):
            writer.commit(promise)

    def close(self, failed: bool) -> None:
        promise, writer = self._context.promise, self._producing
        if not failed:
            for topic, traffic in writer.take_traffic().items():
                self._context.traffic.setdefault(topic, Traffic()).add(traffic)
        if isinstance(writer, TransactionalWriter) and promise is not None:
            if failed:
                writer.close()
            else:
                give_back(promise, self._context.task, writer)
        elif failed:
            drop_writer(self._context.sink, self._properties)


class RowWriter(MessageWriter):
    """Writes the rows of a table."""

    def __init__(self, table: TopicTable, producing: Producing, context: WriteContext) -> None:
        super().__init__(table.properties, producing, context)
        self._encoder = _encoder(table)
        self._encoder.counts = context.counts
        self._partitioner = partitioner_named(table.writing.partitioner)
        if self._partitioner is not None:
            self._partitioner.open(context.task, context.tasks)

    def write(self, rows: pa.RecordBatch) -> None:
        partitioner = self._partitioner
        self._producing.write(self._encoder.encode(rows), partitioner, rows.to_pylist if partitioner else None)


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
        producing = opened(properties, None, context)
        return None if producing is None else MessageWriter(properties, producing, context)


def row_writer(table: TopicTable, context: WriteContext) -> RowWriter | None:
    """The writer of a task; None when its rows are in already, by an earlier run of the batch."""
    topic = table.topics[0] if len(table.topics) == 1 else None
    producing = opened(table.properties, topic, context)
    return None if producing is None else RowWriter(table, producing, context)


def opened(properties: Properties, topic: str | None, context: WriteContext) -> Producing | None:
    if context.promise is None:
        return writer_for(context.sink, properties, topic)
    with _fencing(context.promise, context.task):
        return transaction(properties, topic, context.promise, context.task)


@contextmanager
def _fencing(promise: Promise, task: int) -> Iterator[None]:
    """Another run has the transactions of this task now."""
    try:
        yield
    except Fenced:
        raise RowkindError("TRANSACTION_FENCED", id=promise.insert.transactional_id(task)) from None
