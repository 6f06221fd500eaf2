"""The last step of a sink's rows: encoded and handed to Kafka."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from rowkind.catalog.kafka_table import KafkaTable
from rowkind.catalog.sink_options import Guarantee
from rowkind.connectors.kafka.encoding import MessageEncoder
from rowkind.connectors.kafka.partitioners import Partitioner, partitioner_named
from rowkind.connectors.kafka.transactions import Fenced, Promise, give_back, transaction
from rowkind.connectors.kafka.writer import Writer, drop_writer, writer_for
from rowkind.errors import RowkindError
from rowkind.metrics.traffic import Lane, Side
from rowkind.operators.net import net_change
from rowkind.options.constraints import Constraints
from rowkind.runtime.counters import Tally
from rowkind.runtime.failpoints import failpoint
from rowkind.runtime.worker.steps import Batches, chunk_rows, task_number

SUMMARY = pa.schema([pa.field("rows", pa.int64())])
"""What a sink task answers: an action needs a row to wait for."""


@dataclass(frozen=True, slots=True)
class Write:
    """Writes a task's rows, in order, and answers how many there were."""

    table: bytes
    """A pickled KafkaTable."""
    sink: str
    tasks: int
    net_key: tuple[str, ...] | None
    """Set behind a stateful operator: one change per key is written."""
    constraints: Constraints
    flush: bool
    """Whether even a sink without guarantee waits for its messages: nobody else does at the end of a bounded job."""

    promise: Promise | None = None
    """Set with exactly-once: the rows of a batch and its marker are one transaction."""

    def run(self, batches: Batches, counts: Tally) -> Batches:
        encoder = _encoder(self.table, self.constraints)
        encoder.counts.clear()
        rows: Batches = map(encoder.enforced, batches if self.net_key is None else self._net(batches, encoder.counts))
        send = _Sending(encoder, self._partitioner(encoder.table.sink.partitioner), counts)
        written = self._plainly(rows, send) if self.promise is None else self._once(rows, send, self.promise)
        counts.update({f"{encoder.table.name}.{name}": count for name, count in encoder.counts.items()})
        yield pa.RecordBatch.from_arrays([pa.array([written], pa.int64())], schema=SUMMARY)

    def _plainly(self, batches: Batches, send: _Sending) -> int:
        table, writer, written = send.encoder.table, None, 0
        try:
            for rows in batches:
                if rows.num_rows:
                    writer = writer or writer_for(self.sink, table.properties, _topic(table))
                    written += send(rows, writer)
            if writer is not None:
                writer.flush(wait=self.flush or table.sink.guarantee is not Guarantee.NONE)
                send.tell(writer)
        except BaseException:
            drop_writer(self.sink, table.properties)
            raise
        return written

    def _once(self, batches: Batches, send: _Sending, promise: Promise) -> int:
        """The input is read to its end even where the rows are in already: operators before it write their state."""
        table, task, writer, written = send.encoder.table, task_number(), None, 0
        skipped = False
        try:
            for rows in batches:
                if not rows.num_rows or skipped:
                    continue
                if writer is None:
                    writer = transaction(table.properties, _topic(table), promise, task)
                    skipped = writer is None
                if writer is not None:
                    written += send(rows, writer)
            if writer is not None:
                writer.flush()
                failpoint("before-commit", promise.version)
                writer.commit(promise)
                failpoint("after-commit", promise.version)
                send.tell(writer)
        except BaseException as error:
            if writer is not None:
                writer.close()
            if isinstance(error, Fenced):
                raise RowkindError("TRANSACTION_FENCED", id=promise.insert.transactional_id(task)) from None
            raise
        if writer is not None:
            give_back(promise, task, writer)
        send.encoder.counts["tasks-already-committed"] += skipped
        send.encoder.counts["transactions-committed"] += writer is not None
        return written

    def _partitioner(self, name: str) -> Partitioner | None:
        partitioner = partitioner_named(name)
        if partitioner is not None:
            partitioner.open(task_number(), self.tasks)
        return partitioner

    def _net(self, batches: Batches, counts: Counter[str]) -> Iterator[pa.RecordBatch]:
        found = [b for b in batches if b.num_rows]
        if not found:
            return
        changes = pa.Table.from_batches(found).combine_chunks()
        net = net_change(changes, list(self.net_key or ()))
        counts["changes-coalesced"] += changes.num_rows - net.num_rows
        yield from net.to_batches(max_chunksize=chunk_rows(net))


@dataclass(frozen=True, slots=True)
class _Sending:
    """Rows encoded and handed to a writer, by one partitioner for the whole task."""

    encoder: MessageEncoder
    partitioner: Partitioner | None
    tally: Tally

    def tell(self, writer: Writer) -> None:
        """What went out, for the metrics."""
        for topic, traffic in writer.take_traffic().items():
            self.tally.traffic_of(Lane(Side.WRITTEN, self.encoder.table.name, topic)).add(traffic)

    def __call__(self, rows: pa.RecordBatch, writer: Writer) -> int:
        chooses = self.partitioner is not None
        writer.write(self.encoder.encode(rows), self.partitioner, rows.to_pylist if chooses else None)
        return int(rows.num_rows)


def _topic(table: KafkaTable) -> str | None:
    return table.topics[0] if len(table.topics) == 1 else None


@lru_cache(maxsize=32)
def _encoder(packed: bytes, constraints: Constraints) -> MessageEncoder:
    return MessageEncoder(pickle.loads(packed), constraints)
