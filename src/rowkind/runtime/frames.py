"""A batch as DataFrames: one pass over the plan from the bottom up, delta in, delta out."""

from __future__ import annotations

from functools import singledispatchmethod
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from rowkind.catalog.types import Field, quote, spark_type
from rowkind.kafka.messages import ORDER_COLUMN
from rowkind.kinds import KIND_COLUMN
from rowkind.plan import nodes as n
from rowkind.plan.expressions import bind_clock
from rowkind.plan.partitioning import partitioned_by
from rowkind.runtime import workers
from rowkind.runtime.batches import Batch
from rowkind.runtime.job_plan import JobPlan


class Frames:
    """The DataFrames of one batch; a node that several others use is computed once."""

    def __init__(self, spark: SparkSession, job: JobPlan, batch: Batch, counters: Any) -> None:
        self._spark = spark
        self._job = job
        self._batch = batch
        self._counters = counters
        self._made: dict[n.Node, DataFrame] = {}
        self._kept: list[DataFrame] = []

    def frame(self, node: n.Node) -> DataFrame:
        """The delta of a node, with the kind column last."""
        if node not in self._made:
            made = self._build(node)
            if self._job.uses[node] > 1 and not isinstance(node, n.Values):
                made = made.persist()
                self._kept.append(made)
            self._made[node] = made
        return self._made[node]

    def release(self) -> None:
        for frame in self._kept:
            frame.unpersist()

    @singledispatchmethod
    def _build(self, node: n.Node) -> DataFrame:
        raise NotImplementedError(type(node).__name__)

    @_build.register
    def _(self, node: n.Scan) -> DataFrame:
        index = self._job.scans.index(node)
        ordered = self._job.ordered[index]
        schema = _ddl(node.columns) + f", {KIND_COLUMN} TINYINT" + (f", {ORDER_COLUMN} BIGINT" if ordered else "")
        tasks = self._batch.tasks.get(index, ())
        if not tasks:
            return self._spark.createDataFrame([], schema)
        numbers = self._spark.range(0, len(tasks), 1, len(tasks))
        return numbers.mapInArrow(workers.reading(node.table, ordered, tasks, self._counters), schema)

    @_build.register
    def _(self, node: n.Values) -> DataFrame:
        schema = ", ".join(part for part in (_ddl(node.columns), f"{KIND_COLUMN} TINYINT") if part)
        if self._batch.number != 0:
            return self._spark.createDataFrame([], schema)
        rows = [", ".join([*(self._sql(e.sql) for e in row), "CAST(0 AS TINYINT)"]) for row in node.rows]
        names = ", ".join([*(quote(c.name) for c in node.columns), KIND_COLUMN])
        return self._spark.sql(f"SELECT * FROM (VALUES {', '.join(f'({row})' for row in rows)}) AS v({names})")

    @_build.register
    def _(self, node: n.Project) -> DataFrame:
        below = self.frame(node.input)
        made = [f"{self._sql(e.expr.sql)} AS {quote(e.name)}" for e in node.expressions]
        return below.selectExpr(*made, *self._carried(below))

    @_build.register
    def _(self, node: n.Filter) -> DataFrame:
        return self.frame(node.input).where(self._sql(node.condition.sql))

    @_build.register
    def _(self, node: n.WatermarkAssigner) -> DataFrame:
        return self.frame(node.input)

    @_build.register
    def _(self, node: n.Union) -> DataFrame:
        first, *rest = (self.frame(i).drop(ORDER_COLUMN) for i in node.branches)
        for other in rest:
            first = first.union(other)
        return first

    def sink(self, node: n.Sink) -> DataFrame:
        """A DataFrame whose evaluation writes the sink's rows; one summary row a task."""
        rows = self.frame(node.input).drop(ORDER_COLUMN)
        table, tasks = node.table, self._tasks(node.input)
        key = table.primary_key if node.net else None
        if node.net and not _together(node.input, table.primary_key):
            tasks = self._job.partitions
            rows = rows.repartition(tasks, *(quote(c) for c in table.primary_key))
        elif table.sink.parallelism is not None:
            tasks = table.sink.parallelism
            rows = self._spread(rows, node, tasks)
        name = f"{node.index}:{table.name}"
        write = workers.writing(table, name, tasks, key, self._job.enforcer, self._counters)
        return rows.mapInArrow(write, workers.SUMMARY)

    def _tasks(self, node: n.Node) -> int:
        """In how many tasks the rows of a node are."""
        if isinstance(node, n.Scan):
            return max(1, len(self._batch.tasks.get(self._job.scans.index(node), ())))
        if isinstance(node, n.Union):
            return sum(self._tasks(branch) for branch in node.branches)
        if isinstance(node, (n.Project, n.Filter, n.WatermarkAssigner)):
            return self._tasks(node.input)
        return 1 if isinstance(node, n.Values) else self._job.partitions

    def _spread(self, rows: DataFrame, node: n.Sink, parallelism: int) -> DataFrame:
        """`sink.parallelism`: by key where the table has one, so that the order of a key's rows is kept."""
        key = node.table.primary_key or tuple(c.name for c in node.table.key_columns)
        if key and parallelism > 1:
            return rows.repartition(parallelism, *(quote(c) for c in key))
        return rows.coalesce(1) if parallelism == 1 else rows.repartition(parallelism)

    def _sql(self, sql: str) -> str:
        return bind_clock(sql, self._batch.clock, self._batch.number)

    def _carried(self, below: DataFrame) -> list[str]:
        return [c for c in (KIND_COLUMN, ORDER_COLUMN) if c in below.columns]


def _together(node: n.Node, key: tuple[str, ...]) -> bool:
    """Whether all rows of a key are in one task already."""
    parts = partitioned_by(node)
    return parts is not None and set(parts) <= set(key)


def _ddl(columns: tuple[Field, ...]) -> str:
    return ", ".join(f"{quote(c.name)} {spark_type(c.type)}" for c in columns)
