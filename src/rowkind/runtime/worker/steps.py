"""What runs inside Spark's Python workers: steps from Arrow batches to Arrow batches, several of them in one pass.

Between two exchanges a batch's rows stay in one worker as long as no Spark SQL is needed. Clients and decoders live in
caches of modules and are touched by module-level code only: what is sent along with a task would be a cold copy.
"""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext

from rowkind.connectors.contract import ReadContext, Reader, Split, Table, TaskRange
from rowkind.failpoints import failpoint
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.metrics.traffic import Lane, Side
from rowkind.operators.aggregate.group_aggregate import CAME
from rowkind.operators.contract import BatchContext, Operator
from rowkind.operators.rank.top_n import Rank
from rowkind.runtime.counters import Tally, add_counts
from rowkind.runtime.dead_letters import DeadLetters
from rowkind.runtime.memory import give_back_memory
from rowkind.runtime.worker.exchange import packed, unpacked
from rowkind.runtime.worker_errors import reporting
from rowkind.state.hashing import use_key
from rowkind.state.store import StateStore

Batches = Iterator[pa.RecordBatch]

CHUNK_ROWS = 50_000
CHUNK_BYTES = 8 * 1024 * 1024
"""Rows that are handed on at once: so many, or fewer if they are large."""
COMBINE_ROWS = 500_000
COMBINE_BYTES = 64 * 1024 * 1024
"""Rows that are combined at once before an exchange: more of them shrink better, but are held in memory."""
SPLIT = "__split"
"""Of rows whose watermark is watched: the number of the split that they come from."""
ROOM = 2**40
"""Rows of one task at most: row numbers of different tasks never meet."""


class Step(Protocol):
    """One step. Pickled with every batch, so it is small; called once a task."""

    def run(self, batches: Batches, counts: Tally) -> Batches: ...


def task_number() -> int:
    task = TaskContext.get()
    return task.partitionId() if task else 0


def running(
    steps: Sequence[Step], counters: Any, number: int, nonce: str, hash_key: bytes
) -> Callable[[Batches], Batches]:
    """For mapInArrow: all the steps, one after the other; rows are hashed by the key of the job.

    `number` tells this pass from others of the batch.
    """
    return partial(reporting, nonce, _run, pickle.dumps(tuple(steps)), counters, number, hash_key)


def _run(packed: bytes, counters: Any, number: int, hash_key: bytes, batches: Batches) -> Batches:
    use_key(hash_key)
    counts = Tally()
    for step in pickle.loads(packed):
        batches = step.run(batches, counts)
    yield from batches
    add_counts(counters, number, counts)
    give_back_memory()


@dataclass(frozen=True, slots=True)
class Read:
    """The rows of each task's range; the input is the task's number (`spark.range`)."""

    table: bytes
    """A pickled Table: the key under which the worker keeps its reader."""
    tasks: tuple[TaskRange, ...]
    number: int
    """Of the table among those of the job."""
    letters: DeadLetters
    splits: tuple[Split, ...] = ()
    """Where rows are to tell their split: by its place here."""

    def run(self, batches: Batches, counts: Tally) -> Batches:
        name, reader = _reader(self.table)
        for batch in batches:
            for task in batch.column(0).to_pylist():
                context = ReadContext()
                with self.letters.of_task(self.number, task) as context.set_aside:
                    for split, rows in reader.read(self.tasks[task], context):
                        yield self._told(rows, split)
                counts.update({f"{name}.{what}": count for what, count in context.counts.items()})
                for lane, traffic in context.traffic.items():
                    counts.traffic_of(Lane(Side.READ, name, lane)).add(traffic)

    def _told(self, rows: pa.RecordBatch, split: Split) -> pa.RecordBatch:
        if not self.splits:
            return rows
        number = self.splits.index(split)
        return rows.append_column(SPLIT, pa.array(np.full(rows.num_rows, number, dtype=np.int32)))


@lru_cache(maxsize=32)
def _reader(packed: bytes) -> tuple[str, Reader]:
    table: Table = pickle.loads(packed)
    return table.name, table.reader()


@dataclass(frozen=True, slots=True)
class LeaveOutOldRows:
    """Leaves out -U of a CDC source, which the +U behind it replaces for readers that go by key."""

    table: str

    def run(self, batches: Batches, counts: Counter[str]) -> Batches:
        for batch in batches:
            kept = batch.filter(pc.not_equal(batch.column(KIND_COLUMN), pa.scalar(RowKind.UPDATE_BEFORE, pa.int8())))
            counts[f"{self.table}.old-rows-left-out"] += batch.num_rows - kept.num_rows
            yield kept


@dataclass(frozen=True, slots=True)
class Pick:
    """Columns passed on under other names, or left out."""

    columns: tuple[tuple[str, str], ...]
    """(new name, old name)"""

    def run(self, batches: Batches, counts: Counter[str]) -> Batches:
        for batch in batches:
            columns = [*self.columns, *((CAME, CAME) for name in batch.schema.names if name == CAME)]
            names = [new for new, _ in columns]
            yield pa.RecordBatch.from_arrays([batch.column(old) for _, old in columns], names=names)


@dataclass(frozen=True, slots=True)
class Combine:
    """An operator's input before its exchange: as parcels to the state partitions."""

    operator: bytes
    partitions: int
    input: int = 0

    def run(self, batches: Batches, counts: Counter[str]) -> Batches:
        operator = _operator(self.operator)
        order, rows, size = task_number() * ROOM, 0, 0
        pending: list[pa.RecordBatch] = []
        for batch in batches:
            pending.append(batch)
            rows, size = rows + batch.num_rows, size + batch.nbytes
            if rows >= COMBINE_ROWS or size >= COMBINE_BYTES:
                yield from self._combined(operator, pending, order)
                order, rows, size, pending = order + rows, 0, 0, []
        if pending:
            yield from self._combined(operator, pending, order)

    def _combined(self, operator: Operator, pending: list[pa.RecordBatch], order: int) -> Batches:
        delta, came = fitted(pending, operator.input_schemas[self.input]), _came(pending)
        if came is None or not isinstance(operator, Rank):
            combined = operator.combine(delta, self.input, order)
        else:
            combined = operator.placed(delta, came)
        rows = fitted(combined.to_batches(), operator.exchange_schema)
        step = chunk_rows(rows)
        for start in range(0, rows.num_rows, step):
            yield from packed(rows.slice(start, step), operator.key, self.partitions)


def _came(batches: Sequence[pa.RecordBatch]) -> npt.NDArray[np.int64] | None:
    """When rows came, if they tell it: else the order of the tasks that hold them is all there is."""
    if CAME not in batches[0].schema.names:
        return None
    return np.concatenate([batch.column(CAME).to_numpy() for batch in batches])


@dataclass(frozen=True, slots=True)
class StatePlace:
    """Where an operator's state is, and which version a batch reads and writes."""

    root: str
    operator: str
    version: int
    base: int | None
    oldest: int | None
    checkpoint: str = ""
    sync: bool = True


@dataclass(frozen=True, slots=True)
class Process:
    """An operator behind its exchange: one state partition a task."""

    operator: bytes
    place: StatePlace
    context: BatchContext

    def run(self, batches: Batches, counts: Tally) -> Batches:
        operator, place = _operator(self.operator), self.place
        partition, delta = unpacked(batches, operator.exchange_schema)
        clock = self.context.clock // 1000
        store = StateStore(
            place.root,
            place.operator,
            partition,
            place.version,
            base=place.base,
            clock_ms=clock,
            oldest=place.oldest,
            checkpoint=place.checkpoint,
            sync=place.sync,
        )
        output = operator.process(delta, store, self.context)
        failpoint("before-state", place.version)
        store.commit()
        failpoint("after-state", place.version)
        counts.wake(output.due)
        counts.states[place.operator] = store.size
        counted = {**output.counters, "expired-state": store.expired}
        counts.update({f"{place.operator}.{name}": count for name, count in counted.items() if count})
        rows = output.rows if output.came is None else output.rows.append_column(CAME, pa.array(output.came))
        yield from rows.to_batches(max_chunksize=chunk_rows(rows))


@lru_cache(maxsize=64)
def _operator(packed: bytes) -> Operator:
    operator: Operator = pickle.loads(packed)
    return operator


def chunk_rows(rows: pa.Table) -> int:
    """How many of these rows are handed on at once."""
    fit: int = CHUNK_BYTES * rows.num_rows // max(1, rows.nbytes)
    return min(CHUNK_ROWS, max(1, fit))


def fitted(batches: Sequence[pa.RecordBatch], schema: pa.Schema) -> pa.Table:
    """Batches as one table of a schema; Spark may have made columns nullable or changed time zones' names."""
    found = [b for b in batches if b.num_rows]
    if not found:
        return schema.empty_table()
    table = pa.Table.from_batches(found)
    return table if table.schema == schema else table.select(schema.names).cast(schema)
