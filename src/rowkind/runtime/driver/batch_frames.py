"""A batch as DataFrames: one pass over the plan from the bottom up, delta in, delta out."""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from functools import reduce, singledispatchmethod
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from rowkind.connectors.contract import Promise
from rowkind.kinds import KIND_COLUMN, ChangelogMode
from rowkind.operators.contract import END_OF_TIME, BatchContext
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.plan.expressions import Moment, bind_clock
from rowkind.plan.partitioning import partitioned_by
from rowkind.plan.traits import keeps_state
from rowkind.runtime.dead_letters import DeadLetters
from rowkind.runtime.driver.batch_entry import Batch
from rowkind.runtime.driver.deltas import Delta
from rowkind.runtime.driver.job_plan import JobPlan, NamedOperator
from rowkind.runtime.driver.plan_operators import FILTER, changelog_schema
from rowkind.runtime.driver.unnesting import generator, unnested
from rowkind.runtime.driver.watermark_tracking import group_name
from rowkind.runtime.worker.exchange import PARCELS, exchanged
from rowkind.runtime.worker.steps import SPLIT, Combine, LeaveOutOldRows, Pick, Process, Read, StatePlace
from rowkind.runtime.worker.watch_step import WATERMARK, Watch
from rowkind.runtime.worker.window_step import Assign, window_assign
from rowkind.runtime.worker.write_step import SUMMARY, Write
from rowkind.types import Field, quote, spark_type


@dataclass(frozen=True, slots=True)
class Versions:
    """The state of a job: where it is, the version that this batch writes, and what each operator starts from."""

    root: str
    version: int
    bases: dict[str, int]
    oldest: int | None = None
    checkpoint: str = ""
    hash_key: bytes = b""
    sync: bool = True
    """Whether files are on the disk before a batch is done."""


class BatchFrames:
    """The deltas of one batch; a node that several others use is computed once."""

    def __init__(
        self,
        spark: SparkSession,
        job: JobPlan,
        batch: Batch,
        versions: Versions,
        letters: DeadLetters,
        counters: Any,
        nonce: str,
    ) -> None:
        self._spark = spark
        self._job = job
        self._batch = batch
        self._versions = versions
        self._letters = letters
        self._counters = counters
        self._nonce = nonce
        self._moment = Moment(batch.clock, batch.number, versions.checkpoint)
        self._numbers = {node: number for number, node in enumerate(job.uses)}
        self._made: dict[n.Node, Delta] = {}
        self._kept: list[DataFrame] = []
        self.stages: set[str] = set()
        """The names of the operators that this batch asks for; each writes its state."""

    def delta(self, node: n.Node) -> Delta:
        """The delta of a node: its columns, and the kind last."""
        if node not in self._made:
            made = self._build(node)
            if self._job.uses[node] > 1 and not isinstance(node, n.Values):
                kept = made.frame().persist()
                self._kept.append(kept)
                made = self._of(kept, node.columns)
            self._made[node] = made
        return self._made[node]

    def materialize(self) -> None:
        """Compute what several nodes use, before any of them asks for it.

        Two Spark jobs that need the same rows at the same time would both compute them.
        """
        for frame in self._kept:
            frame.count()

    def release(self) -> None:
        for frame in self._kept:
            frame.unpersist()

    def _of(self, frame: DataFrame, columns: tuple[Field, ...]) -> Delta:
        return self._delta(frame, changelog_schema(columns))

    def _delta(self, frame: DataFrame, schema: pa.Schema) -> Delta:
        return Delta(frame, schema, self._counters, self._nonce, self._versions.hash_key)

    @singledispatchmethod
    def _build(self, node: n.Node) -> Delta:
        return self._operators(node)

    @_build.register
    def _(self, node: n.Scan) -> Delta:
        schema, number = node.table.row_schema, self._job.scans.index(node)
        tasks = self._batch.inputs[number].tasks
        numbers = self._delta(self._spark.range(0, len(tasks), 1, max(1, len(tasks))), schema)
        if node in self._job.watermarks:
            read = self._watched(node, numbers, schema)
        else:
            read = numbers.then(Read(pickle.dumps(node.table), tasks, number, self._letters), schema)
        if node.emit_before or node.table.changelog is not ChangelogMode.RETRACT:
            return read
        return read.then(LeaveOutOldRows(node.table.name), schema)

    def _watched(self, node: n.Scan, numbers: Delta, schema: pa.Schema) -> Delta:
        """The rows of a scan, while the watermarks of its splits are noted; in one pass if it is a mere column."""
        table, mark = self._job.scans.index(node), self._job.watermarks[node]
        found = self._batch.inputs[table]
        told = schema.append(pa.field(SPLIT, pa.int32()))
        read = numbers.then(Read(pickle.dumps(node.table), found.tasks, table, self._letters, found.splits), told)
        if mark.column is not None:
            return read.then(Watch(table, mark.column, mark.delay), schema)
        rows = read.frame().selectExpr("*", f"{self._sql(node, mark.sql)} AS {WATERMARK}")
        return self._delta(rows, schema).then(Watch(table, WATERMARK, 0), schema)

    @_build.register
    def _(self, node: n.Values) -> Delta:
        names = ", ".join([*(quote(c.name) for c in node.columns), KIND_COLUMN])
        rows = node.rows if self._batch.number == 0 else ()
        told = [[self._sql(node, e.sql, at, i) for i, e in enumerate(row)] for at, row in enumerate(rows)]
        texts = [", ".join([*row, "CAST(0 AS TINYINT)"]) for row in told]
        if not texts:
            columns = "".join(f"{quote(c.name)} {spark_type(c.type)}, " for c in node.columns)
            return self._of(self._spark.createDataFrame([], f"{columns}{KIND_COLUMN} TINYINT"), node.columns)
        # Spark's own VALUES takes no lambda functions, which casts of maps and rows are made of.
        values = ", ".join(f"struct({text})" for text in texts)
        return self._of(self._spark.sql(f"SELECT inline(array({values})) AS ({names})"), node.columns)

    @_build.register
    def _(self, node: n.Project) -> Delta:
        below = self.delta(node.input)
        passed = [(e.name, e.expr.column) for e in node.expressions]
        if below.steps and all(old is not None for _, old in passed):
            pick = Pick((*((new, str(old)) for new, old in passed), (KIND_COLUMN, KIND_COLUMN)))
            return below.then(pick, changelog_schema(node.columns))
        made = [f"{self._sql(node, e.expr.sql, at)} AS {quote(e.name)}" for at, e in enumerate(node.expressions)]
        return self._of(below.frame().selectExpr(*made, KIND_COLUMN), node.columns)

    @_build.register
    def _(self, node: n.Filter) -> Delta:
        return self._of(self.delta(node.input).frame().where(self._sql(node, node.condition.sql)), node.columns)

    @_build.register
    def _(self, node: n.WatermarkAssigner) -> Delta:
        return self.delta(node.input)

    @_build.register
    def _(self, node: n.Union) -> Delta:
        branches = [self.delta(branch).frame() for branch in node.branches]
        return self._of(reduce(DataFrame.union, branches), node.columns)

    @_build.register
    def _(self, node: n.Unnest) -> Delta:
        rows = self.delta(node.input).frame()
        elements = rows.selectExpr("*", generator(node, self._sql(node, node.collection.sql)))
        return self._of(elements.selectExpr(*unnested(node)), node.columns)

    @_build.register
    def _(self, node: t.WindowAssign) -> Delta:
        if node.window.kind is t.WindowKind.SESSION:
            return self._operators(node)
        assign = Assign(window_assign(node), self._zone)
        return self.delta(node.input).then(assign, changelog_schema(node.columns))

    @property
    def _zone(self) -> str:
        return str(self._spark.conf.get("spark.sql.session.timeZone"))

    def _operators(self, node: n.Node) -> Delta:
        """A stateful node: its inputs combined, exchanged by key, and processed on state; perhaps in several stages."""
        deltas, context = self._inputs(node), self._context(node)
        for stage in self._job.operators[node]:
            deltas = [self._processed(deltas, stage, context)]
        return deltas[0]

    def _inputs(self, node: n.Node) -> list[Delta]:
        """What a stateful node reads; a filter that was pushed into it becomes a column."""
        if not isinstance(node, n.Normalize) or node.filter is None:
            return [self.delta(below) for below in node.inputs]
        condition = f"{self._sql(node, node.filter.sql)} AS {quote(FILTER)}"
        columns = [quote(c.name) for c in node.input.columns]
        frame = self.delta(node.input).frame().selectExpr(*columns, condition, KIND_COLUMN)
        return [self._delta(frame, self._job.operators[node][0].operator.input_schemas[0])]

    def _processed(self, inputs: list[Delta], stage: NamedOperator, context: BatchContext) -> Delta:
        operator, versions, packed = stage.operator, self._versions, pickle.dumps(stage.operator)
        partitions = self._job.partitions if operator.key else 1
        parcels = [d.then(Combine(packed, partitions, at), PARCELS).frame() for at, d in enumerate(inputs)]
        self.stages.add(stage.name)
        base = versions.bases.get(stage.name)
        place = StatePlace(
            versions.root, stage.name, versions.version, base, versions.oldest, versions.checkpoint, versions.sync
        )
        called = self._delta(exchanged(parcels, partitions), PARCELS)
        return called.then(Process(packed, place, context), operator.output_schema)

    def _context(self, node: n.Node) -> BatchContext:
        batch, group = self._batch, group_name(self._job.group(node))
        watermark = END_OF_TIME if batch.final else batch.watermarks.get(group)
        return BatchContext(self._versions.version, batch.clock, watermark, batch.before.get(group), self._zone)

    def sink_tasks(self, node: n.Sink) -> int:
        """In how many tasks a sink writes."""
        if node.net and not _together(node.input, node.table.primary_key):
            return self._job.partitions
        if not node.net and node.table.writing.parallelism is not None:
            return node.table.writing.parallelism
        return self._tasks(node.input)

    def sink(self, node: n.Sink, tasks: int, promise: Promise | None = None) -> DataFrame:
        """A DataFrame whose evaluation writes the sink's rows in so many tasks; one summary row a task."""
        delta, table, job = self.delta(node.input), node.table, self._job
        if node.net and not _together(node.input, table.primary_key):
            delta = self._of(delta.frame().repartition(tasks, *(quote(c) for c in table.primary_key)), node.columns)
        elif not node.net and tasks != self._tasks(node.input):
            delta = self._of(self._spread(delta.frame(), node, tasks), node.columns)
        key = table.primary_key if node.net else None
        name = f"{node.index}:{table.name}"
        write = Write(pickle.dumps(table), name, tasks, key, job.constraints, job.bounded, promise)
        return delta.then(write, SUMMARY).frame()

    def _spread(self, rows: DataFrame, node: n.Sink, parallelism: int) -> DataFrame:
        """`sink.parallelism`: by key where the table has one, so that the order of a key's rows is kept."""
        key = node.table.order_key
        if key and parallelism > 1:
            return rows.repartition(parallelism, *(quote(c) for c in key))
        return rows.coalesce(1) if parallelism == 1 else rows.repartition(parallelism)

    def _tasks(self, node: n.Node) -> int:
        """In how many tasks the rows of a node are."""
        if isinstance(node, n.Scan):
            return max(1, len(self._batch.inputs[self._job.scans.index(node)].tasks))
        if isinstance(node, n.Union):
            return sum(self._tasks(branch) for branch in node.branches)
        if isinstance(node, (n.Project, n.Filter, n.WatermarkAssigner, n.Unnest, t.WindowAssign)):
            return self._job.partitions if keeps_state(node) else self._tasks(node.input)
        return 1 if isinstance(node, n.Values) else self._job.partitions

    def _sql(self, node: n.Node, sql: str, *at: int) -> str:
        """An expression of a node; `at` tells it from the node's others."""
        return bind_clock(sql, self._moment.at(self._numbers[node], *at))


def _together(node: n.Node, key: tuple[str, ...]) -> bool:
    """Whether all rows of a key are in one task already."""
    parts = partitioned_by(node)
    return parts is not None and set(parts) <= set(key)
