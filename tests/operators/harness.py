"""Runs operators as the runtime would: tasks, an exchange, state partitions, versions, restarts; without Spark."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.contract import BatchContext, Operator
from rowkind.state.hashing import equal_rows, hash_rows
from rowkind.state.store import StateStore

Row = dict[str, Any]
Change = tuple[RowKind, Row]


def delta_of(changes: Sequence[Change], schema: pa.Schema) -> pa.Table:
    return pa.Table.from_pylist([{**row, KIND_COLUMN: int(kind)} for kind, row in changes], schema)


@dataclass
class Engine:
    """One chain of operators with its state. Every batch opens its state anew, so each is a restart."""

    operators: Sequence[Operator]
    root: Path
    partitions: int = 2
    rng: random.Random = field(default_factory=lambda: random.Random(0))
    version: int = 0
    counters: Counter[str] = field(default_factory=Counter)
    watermark: int | None = None
    due: int | None = None

    def batch(self, *deltas: pa.Table, clock_ms: int = 0, watermark: int | None = None, tasks: int = 2) -> pa.Table:
        """One batch, sometimes run twice, as after a failure."""
        before = self.counters.copy()
        out = self._attempt(deltas, clock_ms, watermark, tasks)
        if self.rng.random() < 0.2:
            self.counters = before
            again = self._attempt(deltas, clock_ms, watermark, tasks)
            assert again.num_rows == out.num_rows
            assert equal_rows(again, out, out.column_names).all(), "a batch that is run again must give the same rows"
        self.version += 1
        self.watermark = watermark
        return out

    def _attempt(self, deltas: Sequence[pa.Table], clock_ms: int, watermark: int | None, tasks: int) -> pa.Table:
        rows: Sequence[pa.Table] = deltas
        self.due = None
        for number, operator in enumerate(self.operators):
            rows = [self._step(operator, number, rows, clock_ms, watermark, tasks)]
        return rows[0]

    def _step(
        self, op: Operator, number: int, deltas: Sequence[pa.Table], clock_ms: int, watermark: int | None, tasks: int
    ) -> pa.Table:
        pieces = []
        for input, delta in enumerate(deltas):
            assert delta.schema.equals(op.input_schemas[input])
            size = max(1, -(-delta.num_rows // tasks))
            for task, at in enumerate(range(0, max(1, delta.num_rows), size)):
                pieces.append(op.combine(delta.slice(at, size), input, task << 40))
        self.rng.shuffle(pieces)
        exchanged = pa.concat_tables(pieces)
        assert exchanged.schema.equals(op.exchange_schema)
        count = self.partitions if op.key else 1
        place = hash_rows(exchanged, op.key).h2 % np.uint64(count)
        out = []
        for partition in range(count):
            base = self.version - 1 if self.version else None
            store = StateStore(
                str(self.root),
                f"op{number}",
                partition,
                self.version,
                base=base,
                clock_ms=clock_ms,
                oldest=self.version - 1,
            )
            batch = BatchContext(self.version, clock_ms * 1000, watermark, self.watermark)
            result = op.process(exchanged.filter(pa.array(place == partition)), store, batch)
            store.commit()
            assert result.rows.schema.equals(op.output_schema)
            self.counters.update(result.counters)
            if result.due is not None:
                self.due = result.due if self.due is None else min(self.due, result.due)
            out.append(result.rows)
        return pa.concat_tables(out).combine_chunks()


def entries_left(engine: Engine, number: int = 0) -> dict[str, int]:
    """How many entries the state of an operator holds, by table."""
    counts: Counter[str] = Counter()
    for partition in range(engine.partitions):
        store = StateStore(str(engine.root), f"op{number}", partition, engine.version, base=engine.version - 1)
        for name, runs in store._base.tables.items():
            sort = re.search(r"sorted by \((.*)\)$", store._base.definitions[name])
            columns = [c.split()[0] for c in sort.group(1).split(", ")] if sort else []
            last: dict[tuple[Any, ...], int] = {}
            for info in sorted(runs, key=lambda run: run.last):
                rows = store._run(info).slice(0, info.rows).select(["__h1", "__h2", *columns, "__gone"]).to_pylist()
                last |= {tuple(map(canonical, [*row.values()][:-1])): row["__gone"] for row in rows}
            counts[name] += sum(not gone for gone in last.values())
    return dict(+counts)


def canonical(value: Any) -> Any:
    """Comparable and hashable: NaN as a word, floats rounded, lists as tuples, maps as sets of pairs."""
    if isinstance(value, float):
        return "NaN" if value != value else (value if value in (float("inf"), -float("inf")) else round(value, 6) + 0.0)
    if isinstance(value, list):
        if value and all(isinstance(v, tuple) for v in value):
            return frozenset((canonical(k), n) for k, n in value)
        return tuple(canonical(v) for v in value)
    return value


class Table:
    """A materialised changelog. Refuses a change that does not fit the rows it holds."""

    def __init__(self, key: Sequence[str], upsert: bool = False) -> None:
        self.key = key
        self.upsert = upsert
        self.rows: dict[tuple[Any, ...], Row] = {}

    def apply(self, delta: pa.Table) -> None:
        pending: set[tuple[Any, ...]] = set()
        for change in delta.to_pylist():
            kind = RowKind(change.pop(KIND_COLUMN))
            row = {name: canonical(value) for name, value in change.items()}
            at = tuple(row[name] for name in self.key)
            if kind is RowKind.INSERT:
                assert at not in self.rows, f"+I of {row}, which exists"
                self.rows[at] = row
            elif kind is RowKind.UPDATE_AFTER:
                assert at in self.rows, f"+U of {row}, which does not exist"
                assert self.upsert or at in pending, f"+U of {row} without its -U"
                pending.discard(at)
                self.rows[at] = row
            else:
                assert self.rows.get(at) == row, f"{kind.symbol} of {row}, but the row is {self.rows.get(at)}"
                if kind is RowKind.DELETE:
                    del self.rows[at]
                else:
                    pending.add(at)
        assert not pending
