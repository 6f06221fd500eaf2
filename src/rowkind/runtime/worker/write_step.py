"""The last step of a sink's rows: encoded and handed to Kafka."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from rowkind.connectors.kafka.encoding import MessageEncoder
from rowkind.connectors.kafka.partitioners import Partitioner, partitioner_named
from rowkind.connectors.kafka.task_writer import TaskWriter
from rowkind.connectors.kafka.topic_table import TopicTable
from rowkind.connectors.kafka.transactions import Promise
from rowkind.connectors.settings import Guarantee
from rowkind.metrics.traffic import Lane, Side
from rowkind.operators.net import net_change
from rowkind.options.constraints import Constraints
from rowkind.runtime.counters import Tally
from rowkind.runtime.worker.steps import Batches, chunk_rows, task_number

SUMMARY = pa.schema([pa.field("rows", pa.int64())])
"""What a sink task answers: an action needs a row to wait for."""


@dataclass(frozen=True, slots=True)
class Write:
    """Writes a task's rows, in order, and answers how many there were."""

    table: bytes
    """A pickled TopicTable."""
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
        written = self._written(rows, encoder, self._partitioner(encoder.table.writing.partitioner), counts)
        counts.update({f"{encoder.table.name}.{name}": count for name, count in encoder.counts.items()})
        yield pa.RecordBatch.from_arrays([pa.array([written], pa.int64())], schema=SUMMARY)

    def _written(self, batches: Batches, encoder: MessageEncoder, partitioner: Partitioner | None, tally: Tally) -> int:
        """The input is read to its end even where the rows are in already: operators before it write their state."""
        table, written = encoder.table, 0
        wait = self.flush or table.writing.guarantee is not Guarantee.NONE
        with TaskWriter(self.sink, table.properties, _topic(table), task_number(), self.promise, wait) as writer:
            for rows in batches:
                if rows.num_rows and writer.opened():
                    written += writer.write(encoder.encode(rows), partitioner, rows.to_pylist if partitioner else None)
        encoder.counts["tasks-already-committed"] += writer.skipped
        encoder.counts["transactions-committed"] += writer.committed
        for topic, traffic in writer.traffic.items():
            tally.traffic_of(Lane(Side.WRITTEN, table.name, topic)).add(traffic)
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


def _topic(table: TopicTable) -> str | None:
    return table.topics[0] if len(table.topics) == 1 else None


@lru_cache(maxsize=32)
def _encoder(packed: bytes, constraints: Constraints) -> MessageEncoder:
    return MessageEncoder(pickle.loads(packed), constraints)
