"""The last step of a sink's rows: encoded and handed to Kafka."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from rowkind.catalog.modes import Guarantee, NotNullEnforcer
from rowkind.kafka.encoding import MessageEncoder
from rowkind.kafka.partitioners import Partitioner, partitioner_named
from rowkind.kafka.writer import drop_writer, writer_for
from rowkind.operators.net import net_change
from rowkind.runtime.steps import CHUNK_ROWS, Batches, task_number

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
    enforcer: NotNullEnforcer
    flush: bool
    """Whether even a sink without guarantee waits for its messages: nobody else does at the end of a bounded job."""

    def run(self, batches: Batches, counts: Counter[str]) -> Batches:
        encoder = _encoder(self.table, self.enforcer)
        encoder.counts.clear()
        table, written, writer = encoder.table, 0, None
        topic = table.topics[0] if len(table.topics) == 1 else None
        partitioner = self._partitioner(table.sink.partitioner)
        try:
            for batch in batches if self.net_key is None else self._net(batches, encoder.counts):
                rows = encoder.enforced(batch)
                if rows.num_rows:
                    writer = writer or writer_for(self.sink, table.properties, topic)
                    writer.write(encoder.encode(rows), partitioner, rows.to_pylist if partitioner else None)
                    written += rows.num_rows
            if writer is not None:
                writer.flush(wait=self.flush or table.sink.guarantee is not Guarantee.NONE)
        except BaseException:
            drop_writer(self.sink, table.properties)
            raise
        counts.update({f"{table.name}.{name}": count for name, count in encoder.counts.items()})
        yield pa.RecordBatch.from_arrays([pa.array([written], pa.int64())], schema=SUMMARY)

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
        yield from net.to_batches(max_chunksize=CHUNK_ROWS)


@lru_cache(maxsize=32)
def _encoder(packed: bytes, enforcer: NotNullEnforcer) -> MessageEncoder:
    return MessageEncoder(pickle.loads(packed), enforcer)
