"""What an ingestion job does in a worker: staged rows in, messages out."""

from __future__ import annotations

import pickle
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.connectors.contract import Promise, WriteContext
from rowkind.connectors.kafka.table_writer import Messages
from rowkind.connectors.mysql.staged import EVENT_TIME, staged_sections
from rowkind.ingest.message_rows import Target, encoded, messages, outgoing
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.metrics.traffic import Lane, Side
from rowkind.runtime.counters import Tally
from rowkind.runtime.worker.steps import Batches, task_number
from rowkind.runtime.worker.task_output import TaskOutput
from rowkind.runtime.worker.write_step import SUMMARY, summary
from rowkind.state.hashing import hash_rows

LINES = pa.schema([pa.field("line", pa.string())])
Outgoing = Iterator[tuple[str, Target, pa.RecordBatch]]
"""The name of a table, where its rows go, and rows."""


class Outlet(Protocol):
    """What becomes of the messages of a task."""

    @property
    def answer(self) -> pa.Schema:
        """Of what `put` gives."""
        ...

    def put(self, rows: Outgoing, counts: Tally) -> Batches: ...


@dataclass(frozen=True, slots=True)
class Delivery:
    """Messages go to Kafka: how a lane of an ingestion job writes, under which name, and what it promises."""

    sink: str
    topics: Messages
    tasks: int
    wait: bool
    promise: Promise | None = None

    @property
    def answer(self) -> pa.Schema:
        return SUMMARY

    def put(self, rows: Outgoing, counts: Tally) -> Batches:
        context = WriteContext(self.sink, task_number(), self.tasks, promise=self.promise)
        with TaskOutput(self.topics, context, self.wait) as output:
            for table, target, batch in rows:
                counted = Counter[str]()
                output.write(messages(batch, target, counted))
                _count(table, counted, counts)
        tell(context, counts)
        yield summary(output.written)


@dataclass(frozen=True, slots=True)
class Showing:
    """Messages go back to the driver, a line each."""

    before: str = ""

    @property
    def answer(self) -> pa.Schema:
        return LINES

    def put(self, rows: Outgoing, counts: Tally) -> Batches:
        for table, target, batch in rows:
            passed, counted = outgoing(batch, target), Counter[str]()
            made = encoded(passed, target, counted)
            _count(table, counted, counts)
            lane = Lane(Side.WRITTEN, target.topic, target.topic)
            counts.traffic_of(lane).wrote(made.num_rows, made.nbytes)
            kinds = passed.column(KIND_COLUMN).to_pylist()
            lines = [f"{self.before}{line}" for line in described(table, kinds, made)]
            yield pa.RecordBatch.from_arrays([pa.array(lines, pa.string())], schema=LINES)


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
    # Half of the hash tells most rows apart; the others are few, and looked at one by one.
    alike = np.flatnonzero(np.isin(mine.h1, theirs.h1))
    if not len(alike):
        return rows
    known = set(zip(theirs.h1.tolist(), theirs.h2.tolist(), strict=True))
    keep = np.ones(rows.num_rows, np.bool_)
    keep[alike] = [pair not in known for pair in zip(mine.h1[alike].tolist(), mine.h2[alike].tolist(), strict=True)]
    return rows.filter(pa.array(keep))


@dataclass(frozen=True, slots=True)
class WriteStaged:
    """Rows of any number of tables from their files to their topics, in one pass."""

    tasks: StagedTasks
    keys: Mapping[str, tuple[str, ...]]
    """The primary key of each table."""
    targets: bytes
    """Pickled: the targets of each table."""
    outlet: Outlet

    def run(self, batches: Batches, counts: Tally) -> Batches:
        yield from self.outlet.put(self._outgoing(batches, counts), counts)

    def _outgoing(self, batches: Batches, counts: Tally) -> Outgoing:
        targets: Mapping[str, tuple[Target, ...]] = _unpacked(self.targets)
        for table, rows in self.tasks.sections(batches, self.keys, counts):
            for target in targets.get(table, ()):
                yield table, target, rows


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
    outlet: Outlet

    def run(self, batches: Batches, counts: Tally) -> Batches:
        target: Target = _unpacked(self.target)
        yield from self.outlet.put(((self.table, target, rows) for rows in batches), counts)


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


def _count(table: str, counted: Counter[str], counts: Counter[str]) -> None:
    """What encoding has counted, under the name of the table."""
    counts.update({f"{table}.{name}": count for name, count in counted.items()})


def described(table: str, kinds: Sequence[int], messages: pa.RecordBatch) -> Iterator[str]:
    """Messages for people: the kind of the row, table, topic, key, value and headers."""
    columns = [messages.column(name).to_pylist() for name in ("topic", "key", "value")]
    named = "header-list" in messages.schema.names
    headers = messages.column("header-list").to_pylist() if named else [()] * messages.num_rows
    for kind, topic, key, value, listed in zip(kinds, *columns, headers, strict=True):
        parts = [RowKind(kind).symbol, table, "->", topic, _text(key), _text(value)]
        yield " ".join([*parts, *(f"{h['key']}={_text(h['value'])}" for h in listed)])


def _text(payload: bytes | None) -> str:
    return "null" if payload is None else payload.decode("utf-8", "replace")


@lru_cache(maxsize=64)
def _unpacked(packed: bytes) -> Any:
    return pickle.loads(packed)
