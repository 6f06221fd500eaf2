"""The last step of a sink's rows: brought to one change a key, checked, and handed to the writer of their table."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import pyarrow as pa

from rowkind.connectors.contract import Promise, Table, WriteContext
from rowkind.connectors.settings import Guarantee
from rowkind.metrics.traffic import Lane, Side
from rowkind.operators.net import net_change
from rowkind.options.constraints import Constraints
from rowkind.runtime.counters import Tally
from rowkind.runtime.worker.enforcing import Enforcer
from rowkind.runtime.worker.steps import Batches, chunk_rows, task_number
from rowkind.runtime.worker.task_output import TaskOutput

SUMMARY = pa.schema([pa.field("rows", pa.int64())])
"""What a sink task answers: an action needs a row to wait for."""


@dataclass(frozen=True, slots=True)
class Write:
    """Writes a task's rows, in order, and answers how many there were."""

    table: bytes
    """A pickled Table."""
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
        """The input is read to its end even where the rows are in already: operators before it write their state."""
        table, enforcer = _table(self.table, self.constraints)
        context = WriteContext(self.sink, task_number(), self.tasks, promise=self.promise)
        wait = self.flush or table.writing.guarantee is not Guarantee.NONE
        with TaskOutput(table, context, wait) as output:
            for rows in batches if self.net_key is None else self._net(batches, context.counts):
                output.write(enforcer.enforced(rows, context.counts))
        tell_written(counts, table.name, context)
        yield summary(output.written)

    def _net(self, batches: Batches, counts: Counter[str]) -> Iterator[pa.RecordBatch]:
        found = [b for b in batches if b.num_rows]
        if not found:
            return
        changes = pa.Table.from_batches(found).combine_chunks()
        net = net_change(changes, list(self.net_key or ()))
        counts["changes-coalesced"] += changes.num_rows - net.num_rows
        yield from net.to_batches(max_chunksize=chunk_rows(net))


def tell_written(tally: Tally, table: str, context: WriteContext) -> None:
    """For the counts of a batch and the metrics."""
    tally.update({f"{table}.{name}": count for name, count in context.counts.items()})
    for part, traffic in context.traffic.items():
        tally.traffic_of(Lane(Side.WRITTEN, table, part)).add(traffic)


def summary(written: int) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays([pa.array([written], pa.int64())], schema=SUMMARY)


@lru_cache(maxsize=32)
def _table(packed: bytes, constraints: Constraints) -> tuple[Table, Enforcer]:
    table: Table = pickle.loads(packed)
    return table, Enforcer(table, constraints)
