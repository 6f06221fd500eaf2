"""A whole plan without Spark: the operators of the job over Arrow, expressions in DuckDB, every batch a restart."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import singledispatchmethod
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rowkind.kinds import KIND_COLUMN, ChangelogMode, RowKind
from rowkind.operators.net import net_change
from rowkind.plan import nodes as n
from rowkind.plan import time_nodes as t
from rowkind.runtime.driver.job_plan import JobPlan
from rowkind.runtime.driver.plan_operators import FILTER, changelog_schema
from rowkind.runtime.worker.steps import fitted
from rowkind.runtime.worker.window_step import window_assign
from rowkind.state import sorted_run, store
from rowkind.types import BOOLEAN, Field, quote
from tests.operators.harness import Engine
from tests.oracle.duck import Duck
from tests.oracle.sources import Change, comparable

Rows = Counter[tuple[Any, ...]]
FILTER_FIELD = Field(FILTER, BOOLEAN)


class PlanEngine:
    """Runs a job batch by batch and keeps what its sinks would hold."""

    def __init__(self, plan: JobPlan, root: Path, duck: Duck, rng: random.Random) -> None:
        self._plan, self._duck = plan, duck
        self.tables: dict[str, dict[tuple[Any, ...], tuple[Any, ...]] | Rows] = {}
        for sink in plan.sinks:
            self.tables[sink.table.name] = {} if sink.table.upsert else Counter()
        self._engines = {
            node: Engine([stage.operator for stage in chain], root / chain[0].name, rng.choice([1, 2, 3]), rng)
            for node, chain in plan.operators.items()
        }
        self._made: dict[n.Node, pa.Table] = {}
        self._changes: Mapping[str, list[Change]] = {}
        self._marks: Mapping[str, datetime | None] = {}

    def batch(self, changes: Mapping[str, list[Change]], marks: Mapping[str, datetime | None]) -> None:
        """One batch: what each source tells, and how far its time is behind these rows. State is opened from files."""
        store._open.clear()
        sorted_run._verified.clear()
        self._made, self._changes, self._marks = {}, changes, marks
        for sink in self._plan.sinks:
            self._write(sink, self._delta(sink.input))

    def rows(self, table: str) -> Rows:
        held = self.tables[table]
        return held if isinstance(held, Counter) else Counter(held.values())

    def _delta(self, node: n.Node) -> pa.Table:
        if node not in self._made:
            self._made[node] = self._build(node)
        return self._made[node]

    @singledispatchmethod
    def _build(self, node: n.Node) -> pa.Table:
        return self._operators(node)

    @_build.register
    def _(self, node: n.Scan) -> pa.Table:
        told = [{**row, KIND_COLUMN: int(kind)} for kind, row in self._changes[node.table.name]]
        rows = pa.Table.from_pylist(told, changelog_schema(node.columns))
        if node.emit_before or node.table.changelog is not ChangelogMode.RETRACT:
            return rows
        return rows.filter(pc.not_equal(rows.column(KIND_COLUMN), int(RowKind.UPDATE_BEFORE)))

    @_build.register
    def _(self, node: n.Project) -> pa.Table:
        made = [(e.expr.sql, e.name) for e in node.expressions]
        return self._duck.projected(self._delta(node.input), made, node.columns)

    @_build.register
    def _(self, node: n.Filter) -> pa.Table:
        return self._duck.filtered(self._delta(node.input), node.condition.sql)

    @_build.register
    def _(self, node: n.WatermarkAssigner) -> pa.Table:
        return self._delta(node.input)

    @_build.register
    def _(self, node: n.Union) -> pa.Table:
        schema = changelog_schema(node.columns)
        return pa.concat_tables([self._delta(b).rename_columns(schema.names).cast(schema) for b in node.branches])

    @_build.register
    def _(self, node: t.WindowAssign) -> pa.Table:
        if node.window.kind is t.WindowKind.SESSION:
            return self._operators(node)
        windows, schema = window_assign(node), changelog_schema(node.columns)
        return pa.Table.from_batches([windows.assign(b, "UTC") for b in self._delta(node.input).to_batches()], schema)

    def _operators(self, node: n.Node) -> pa.Table:
        inputs = [self._delta(below) for below in node.inputs]
        if isinstance(node, n.Normalize) and node.filter is not None:
            inputs = [self._with_filter(node, inputs[0])]
        schemas = self._plan.operators[node][0].operator.input_schemas
        fitting = [fitted(delta.to_batches(), schema) for delta, schema in zip(inputs, schemas, strict=True)]
        return self._engines[node].batch(*fitting, watermark=self._watermark(node))

    def _with_filter(self, node: n.Normalize, rows: pa.Table) -> pa.Table:
        assert node.filter is not None
        made = [(quote(c.name), c.name) for c in node.input.columns]
        return self._duck.projected(rows, [*made, (node.filter.sql, FILTER)], (*node.input.columns, FILTER_FIELD))

    def _watermark(self, node: n.Node) -> int | None:
        followed = [self._marks[self._plan.scans[at].table.name] for at in self._plan.group(node)]
        known = [mark for mark in followed if mark is not None]
        return _micros(min(known)) if known and len(known) == len(followed) else None

    def _write(self, sink: n.Sink, delta: pa.Table) -> None:
        held = self.tables[sink.table.name]
        if isinstance(held, Counter):
            self._weigh(held, delta)
            return
        key = list(sink.table.primary_key)
        for row in (net_change(delta, key) if sink.net else delta).to_pylist():
            kind = RowKind(row.pop(KIND_COLUMN))
            at = tuple(row[name] for name in key)
            assert None not in at, f"{sink.table.name}: a primary key with NULL in {row}"
            if kind.adds:
                held[at] = tuple(map(comparable, row.values()))
            else:
                held.pop(at, None)

    def _weigh(self, held: Rows, delta: pa.Table) -> None:
        for row in delta.to_pylist():
            kind = RowKind(row.pop(KIND_COLUMN))
            held[tuple(map(comparable, row.values()))] += 1 if kind.adds else -1
        for row in [row for row, number in held.items() if not number]:
            del held[row]


def _micros(time: datetime) -> int:
    return int((time.replace(tzinfo=UTC) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))
