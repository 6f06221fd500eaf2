"""What an ingestion job does in a worker: staged rows in, messages out."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rowkind.connectors.contract import Promise, WriteContext
from rowkind.connectors.kafka.table_writer import Messages
from rowkind.connectors.mysql.staged import EVENT_TIME, staged_sections
from rowkind.ingest.message_rows import Target, messages
from rowkind.metrics.traffic import Lane, Side
from rowkind.runtime.counters import Tally
from rowkind.runtime.worker.steps import Batches, task_number
from rowkind.runtime.worker.task_output import TaskOutput
from rowkind.runtime.worker.write_step import summary
from rowkind.state.hashing import hash_rows


@dataclass(frozen=True, slots=True)
class Delivery:
    """How a lane of an ingestion job writes: under which name, and what it promises for the batch."""

    sink: str
    topics: Messages
    tasks: int
    wait: bool
    promise: Promise | None = None

    def context(self) -> WriteContext:
        return WriteContext(self.sink, task_number(), self.tasks, promise=self.promise)

    def output(self, context: WriteContext) -> TaskOutput:
        return TaskOutput(self.topics, context, self.wait)


@dataclass(frozen=True, slots=True)
class StagedTasks:
    """The staged file of each task. The input of a task is its number."""

    folder: str
    files: tuple[str, ...]
    minus: tuple[tuple[str, ...], ...]
    """Of each task the files of the log whose keys are left out: a chunk's rows that were changed meanwhile."""

    def sections(
        self, batches: Batches, keys: Mapping[str, tuple[str, ...]], counts: Tally
    ) -> Iterator[tuple[str, pa.RecordBatch]]:
        for batch in batches:
            for task in batch.column(0).to_pylist():
                changed = _changed(self.folder, self.minus[task], keys) if self.minus[task] else {}
                for table, rows in staged_sections(self.folder, self.files[task]):
                    kept = rows if table not in changed else _without(rows, changed[table])
                    counts[f"{table}.rows-changed-meanwhile"] += rows.num_rows - kept.num_rows
                    counts[f"{table}.rows-read"] += kept.num_rows
                    counts[f"{table}.bytes-read"] += kept.nbytes
                    _tell_read(counts, table, kept)
                    yield table, kept


def _changed(folder: str, files: Sequence[str], keys: Mapping[str, tuple[str, ...]]) -> dict[str, pa.Table]:
    """The keys that the log has, of the tables that have any."""
    found: dict[str, list[pa.RecordBatch]] = {}
    for file in files:
        for table, rows in staged_sections(folder, file):
            if keys.get(table):
                found.setdefault(table, []).append(rows.select(list(keys[table])))
    return {table: pa.Table.from_batches(batches) for table, batches in found.items()}


def _without(rows: pa.RecordBatch, keys: pa.Table) -> pa.RecordBatch:
    mine, theirs = hash_rows(rows, keys.column_names), hash_rows(keys)
    known = set(zip(theirs.h1.tolist(), theirs.h2.tolist(), strict=True))
    keep = [pair not in known for pair in zip(mine.h1.tolist(), mine.h2.tolist(), strict=True)]
    return rows.filter(pa.array(keep, pa.bool_()))


@dataclass(frozen=True, slots=True)
class WriteStaged:
    """Rows of any number of tables from their files to their topics, in one pass."""

    tasks: StagedTasks
    keys: Mapping[str, tuple[str, ...]]
    """The primary key of each table."""
    targets: bytes
    """Pickled: the targets of each table."""
    delivery: Delivery

    def run(self, batches: Batches, counts: Tally) -> Batches:
        targets: Mapping[str, tuple[Target, ...]] = _unpacked(self.targets)
        context = self.delivery.context()
        with self.delivery.output(context) as output:
            for table, rows in self.tasks.sections(batches, self.keys, counts):
                for target in targets.get(table, ()):
                    write_to(rows, table, target, output, counts)
        tell(context, counts)
        yield summary(output.written)


@dataclass(frozen=True, slots=True)
class ReadStaged:
    """The rows of one table, for Spark to compute on; all sections of the files are of that table."""

    tasks: StagedTasks
    table: str
    key: tuple[str, ...]
    columns: tuple[str, ...]

    def run(self, batches: Batches, counts: Tally) -> Batches:
        for _, rows in self.tasks.sections(batches, {self.table: self.key}, counts):
            yield rows.select(list(self.columns))


@dataclass(frozen=True, slots=True)
class WriteRows:
    """Rows of one table that Spark has computed on, to a topic."""

    table: str
    target: bytes
    """Pickled."""
    delivery: Delivery

    def run(self, batches: Batches, counts: Tally) -> Batches:
        target: Target = _unpacked(self.target)
        context = self.delivery.context()
        with self.delivery.output(context) as output:
            for rows in batches:
                write_to(rows, self.table, target, output, counts)
        tell(context, counts)
        yield summary(output.written)


def _tell_read(tally: Tally, table: str, rows: pa.RecordBatch) -> None:
    """For the metrics: the rows of a snapshot have no time of their own."""
    latest = pc.max(rows.column(EVENT_TIME)).as_py() or None
    tally.traffic_of(Lane(Side.READ, table, table)).read(
        rows.num_rows, rows.nbytes, latest, time.time_ns() // 1_000_000
    )


def tell(context: WriteContext, tally: Tally) -> None:
    """For the counts of the job, and for the metrics what went out, by topic."""
    tally.update(context.counts)
    for topic, traffic in context.traffic.items():
        tally.traffic_of(Lane(Side.WRITTEN, topic, topic)).add(traffic)


def write_to(rows: pa.RecordBatch, table: str, target: Target, output: TaskOutput, counts: Counter[str]) -> None:
    counted: Counter[str] = Counter()
    output.write(messages(rows, target, counted))
    counts.update({f"{table}.{name}": count for name, count in counted.items()})


@lru_cache(maxsize=64)
def _unpacked(packed: bytes) -> Any:
    return pickle.loads(packed)
