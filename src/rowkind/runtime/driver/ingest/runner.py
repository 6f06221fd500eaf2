"""One batch of an ingestion job, on the driver: staged files in, topics written, manifest last.

The steps are those of every job (see `batch_runner`): the entry is there before the batch is run, the manifest after
its messages are. Tables on whose rows Spark computes nothing are written together, in one pass over their files; each
of the others is a pass of its own. Tables without changes cost nothing.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from sqlglot import exp

from rowkind.connectors.contract import Promise
from rowkind.connectors.kafka.table_writer import Messages
from rowkind.connectors.mysql.schemas import TableId, TableSchema
from rowkind.connectors.mysql.source import MysqlSource
from rowkind.connectors.mysql.staged import EVENT_TIME, SEQUENCE
from rowkind.connectors.settings import Guarantee
from rowkind.failpoints import failpoint
from rowkind.ingest.description import IngestionJob
from rowkind.ingest.endpoints import PrintSink, UpsertKafkaSink
from rowkind.ingest.fitting import fits, fitted
from rowkind.ingest.table_output import TableOutput
from rowkind.ingest.topic_schemas import TopicSchema
from rowkind.kinds import KIND_COLUMN
from rowkind.metrics.job_metrics import BatchReport, JobMetrics
from rowkind.metrics.traffic import Lane, Side
from rowkind.plan.expressions import Moment
from rowkind.runtime.counters import Tally, counters, total
from rowkind.runtime.driver.checkpoint import Checkpoint
from rowkind.runtime.driver.ingest.binding import Binder
from rowkind.runtime.driver.ingest.entry import IngestBatch
from rowkind.runtime.driver.ingest.job import Taken
from rowkind.runtime.driver.ingest.planner import IngestPlanner
from rowkind.runtime.driver.ingest.standing import gauges
from rowkind.runtime.driver.ingest.tables import JobTables, lane_of
from rowkind.runtime.driver.ingest.topics import Topics
from rowkind.runtime.driver.job import Progress
from rowkind.runtime.worker.ingest_steps import (
    Delivery,
    Outlet,
    ReadStaged,
    Showing,
    StagedTasks,
    WriteRows,
    WriteStaged,
)
from rowkind.runtime.worker.steps import Step, running
from rowkind.types import arrow_schema

_passes = count()
Show = Callable[[Sequence[str], bool], None]
"""Takes lines for the user, and whether they go to stderr."""


def show(lines: Sequence[str], aside: bool) -> None:
    """The usual way: they are printed."""
    print(*lines, sep="\n", file=sys.stderr if aside else sys.stdout, flush=True)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A task of an entry."""

    lane: str
    file: str
    rows: Mapping[str, int]
    minus: tuple[str, ...]

    @property
    def tables(self) -> tuple[str, ...]:
        return tuple(self.rows)


class IngestRunner:
    """Runs the batches of an ingestion job, one at a time, in the thread of the job."""

    def __init__(
        self,
        spark: SparkSession,
        job: IngestionJob,
        checkpoint: Checkpoint,
        taken: Taken,
        source: MysqlSource,
        tables: JobTables,
        binder: Binder,
        planner: IngestPlanner,
        topics: Topics,
        folder: str,
        progress: Progress,
        metrics: JobMetrics,
        nonce: str,
        notify: Callable[[str], None],
        show: Show,
    ) -> None:
        self._spark = spark
        self._name = job.name
        self._called = f"{job.name} ({job.ends})" if job.ends else job.name
        self._checkpoint = checkpoint
        self._taken = taken
        self._source = source
        self._tables = tables
        self._binder = binder
        self._planner = planner
        self._topics = topics
        self._folder = folder
        self._progress = progress
        self._metrics = metrics
        self._nonce = nonce
        self._notify = notify
        self._sink = job.sink
        self._show = show

    def run(self, batch: IngestBatch, planned: float = 0.0) -> None:
        """One batch; `planned` is how many seconds its planning took."""
        self._metrics.begun({Lane(Side.READ, table, table) for task in batch.tasks for table in task["rows"]})
        self._checkpoint.check_owner()
        for note in batch.notes:
            self._notify(note)
        started = time.monotonic()
        failpoint("before-sinks", batch.number)
        counted = Tally()
        if isinstance(self._sink, UpsertKafkaSink):
            self._topics.prepare(self._planner.topics(batch))
        if batch.tasks:
            with counters(self._spark) as added:
                self._write(batch, added)
                counted = total(added)
        failpoint("after-sinks", batch.number)
        written, run = time.time_ns() // 1_000_000, time.monotonic() - started
        told = {"version": batch.number, "clock": batch.clock, "operators": {}}
        size = self._checkpoint.finish(batch.number, told)
        failpoint("after-manifest", batch.number)
        self._source.done(batch.position)
        self._account(batch, run, counted)
        self._metrics.stands(gauges(self._planner.standing))
        phases = {"plan": planned, "run": run, "commit": time.monotonic() - started - run}
        milliseconds = {phase: seconds * 1000 for phase, seconds in phases.items()}
        self._metrics.committed(
            BatchReport(
                traffic=counted.traffic, written=written, counts=counted, phases=milliseconds, manifest_bytes=size
            )
        )

    def _write(self, batch: IngestBatch, added: Any) -> None:
        self._spark.sparkContext.setJobDescription(f"{self._called}: batch {batch.number}")
        topics = self._planner.topics(batch)
        schemas = self._source.schemas({"schemas": batch.schemas}).tables
        pieces = [_Piece(t["lane"], t["file"], t["rows"], tuple(t["minus"])) for t in batch.tasks]
        # Tables without rows cost nothing.
        named = {table for piece in pieces for table in piece.tables}
        outputs = {table: self._tables.output(schemas[TableId(*table.split(".", 1))]) for table in named}
        plain, apart = self._dealt(pieces, outputs, topics)
        frames = [self._plain(batch, plain, outputs, topics, added)] if plain else []
        for table, mine in apart.items():
            schema = schemas[TableId(*table.split(".", 1))]
            frames += self._computed(batch, schema, outputs[table], mine, topics, added)
        for frame in frames:
            self._run(frame)

    def _run(self, frame: DataFrame) -> None:
        if not isinstance(self._sink, PrintSink):
            frame.collect()
            return
        lines = (row[0] for row in frame.toLocalIterator())
        while some := list(islice(lines, 1000)):
            self._show(some, self._sink.standard_error)

    def _dealt(
        self,
        pieces: Sequence[_Piece],
        outputs: Mapping[str, TableOutput | None],
        topics: Mapping[str, TopicSchema],
    ) -> tuple[list[_Piece], dict[str, list[_Piece]]]:
        """Files of tables that are only passed on, and those of each table that Spark computes on."""
        plain: list[_Piece] = []
        apart: dict[str, list[_Piece]] = {}
        for piece in pieces:
            output = outputs[piece.tables[0]] if len(piece.tables) == 1 else None
            if output is not None and self._tables.computed(output, topics):
                apart.setdefault(piece.tables[0], []).append(piece)
            else:
                plain.append(piece)
        return plain, apart

    def _plain(
        self,
        batch: IngestBatch,
        pieces: Sequence[_Piece],
        outputs: Mapping[str, TableOutput | None],
        topics: Mapping[str, TopicSchema],
        added: Any,
    ) -> DataFrame:
        named = {table for piece in pieces for table in piece.tables}
        targets = {
            table: self._tables.targets(output, topics) for table in named if (output := outputs[table]) is not None
        }
        keys = {table: output.table.primary_key for table in named if (output := outputs[table]) is not None}
        write = WriteStaged(
            _staged(self._folder, pieces),
            keys,
            pickle.dumps(targets),
            self._outlet(batch, "rows", len(pieces), topics),
        )
        return self._pass(self._numbers(len(pieces)), (write,), write.outlet.answer, added)

    def _computed(
        self,
        batch: IngestBatch,
        schema: TableSchema,
        output: TableOutput | None,
        pieces: Sequence[_Piece],
        topics: Mapping[str, TopicSchema],
        added: Any,
    ) -> list[DataFrame]:
        """One frame for each topic of a table that Spark computes on."""
        assert output is not None
        columns = staged_schema(output)
        read = ReadStaged(_staged(self._folder, pieces), str(schema.id), output.table.primary_key, tuple(columns.names))
        rows = self._pass(self._numbers(len(pieces)), (read,), columns, added)
        moment = Moment(batch.clock, batch.number, self._taken.id)
        made = self._binder.applied(output.transform, rows, moment)
        frames = []
        for number, (planned, target) in enumerate(
            zip(output.targets, self._tables.targets(output, topics), strict=True)
        ):
            wanted = topics[planned.topic].columns
            fitting = made
            if not fits(wanted, output.columns):
                fitting = self._binder.fitted(made, fitting_select(wanted, output), output.columns, moment)
            lane = f"{lane_of(schema.id)}.{number}"
            outlet = self._outlet(batch, lane, len(pieces), topics)
            write = WriteRows(str(schema.id), pickle.dumps(target), outlet)
            frames.append(self._pass(fitting, (write,), outlet.answer, added))
        return frames

    def _numbers(self, tasks: int) -> DataFrame:
        return self._spark.range(0, tasks, 1, tasks)

    def _pass(self, rows: DataFrame, steps: tuple[Step, ...], schema: pa.Schema, added: Any) -> DataFrame:
        return rows.mapInArrow(running(steps, added, next(_passes), self._nonce, b""), from_arrow_schema(schema))

    def _outlet(self, batch: IngestBatch, lane: str, tasks: int, topics: Mapping[str, TopicSchema]) -> Outlet:
        """How a lane writes a batch; with exactly-once that is written down before it does."""
        if isinstance(self._sink, PrintSink):
            return Showing(f"{self._sink.identifier}> " if self._sink.identifier else "")
        properties = self._sink.properties
        promise = None
        if self._sink.guarantee is Guarantee.EXACTLY_ONCE:
            sink = self._tables.any_table(self._topics.marker(topics)).sink()
            insert = sink.insert(lane, self._taken.lineage)
            self._checkpoint.record_used(sink.used(insert, task) for task in range(tasks))
            promise = Promise(insert, batch.number, batch.id)
        waits = self._sink.guarantee is not Guarantee.NONE or self._source.bounded
        return Delivery(f"{self._name}:{lane}", Messages(tuple(sorted(properties.items()))), tasks, waits, promise)

    def _account(self, batch: IngestBatch, took: float, counted: Counter[str]) -> None:
        progress = self._progress
        progress.counts.update(counted)
        progress.counts.update(self._planner.counts)
        self._planner.counts.clear()
        progress.batches += 1
        progress.rows_in = sum(c for name, c in progress.counts.items() if name.endswith(".rows-read"))
        progress.rows_out = sum(c for name, c in progress.counts.items() if name.endswith(".rows-written"))
        if batch.rows:
            progress.rows_per_second = batch.rows / max(took, 0.001)


def _staged(folder: str, pieces: Sequence[_Piece]) -> StagedTasks:
    return StagedTasks(folder, tuple(piece.file for piece in pieces), tuple(piece.minus for piece in pieces))


def staged_schema(output: TableOutput) -> pa.Schema:
    """Of the rows of a table as they are read: its columns, and what every row carries."""
    columns = arrow_schema(output.table.columns)
    for name, kind in ((EVENT_TIME, pa.int64()), (SEQUENCE, pa.int64()), (KIND_COLUMN, pa.int8())):
        columns = columns.append(pa.field(name, kind))
    return columns


def fitting_select(wanted: Sequence[Any], output: TableOutput) -> exp.Select:
    """From the columns of a transform to those of a topic."""
    made = [
        exp.Alias(this=fit.tree, alias=exp.to_identifier(fit.column.name, quoted=True))
        for fit in fitted(wanted, output.columns)
    ]
    return exp.Select(expressions=made, from_=exp.From(this=exp.Table(this=exp.to_identifier("output", quoted=True))))
