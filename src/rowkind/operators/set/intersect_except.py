"""INTERSECT and EXCEPT: how often a row is in both inputs decides how often it is in the result."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.kinds import KIND_COLUMN
from rowkind.operators.changes import KIND_FIELD, STALE, SUPPRESSED, Groups, Ints, column_array, group, signs
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.weighted import changelog
from rowkind.state.contract import StateTables
from rowkind.state.hashing import hash_rows

KEY, LEFT, RIGHT = "__key", "__left", "__right"
_NUMBERS = pa.schema([(LEFT, pa.int64()), (RIGHT, pa.int64())])


@dataclass(frozen=True)
class SetDifference:
    """`left INTERSECT | EXCEPT [ALL] right`. Columns go by position, and NULL equals NULL; names are the left input's.

    State is two numbers for each distinct row; the row itself is not kept.
    """

    left: pa.Schema
    right: pa.Schema
    intersect: bool
    all: bool
    ttl_ms: int = 0

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return self.left, self.right

    @property
    def key(self) -> tuple[str, ...]:
        return (KEY,)

    @cached_property
    def _columns(self) -> tuple[str, ...]:
        return tuple(name for name in self.left.names if name != KIND_COLUMN)

    @cached_property
    def exchange_schema(self) -> pa.Schema:
        columns = [self.left.field(name).with_nullable(True) for name in self._columns]
        return pa.schema([*columns, pa.field(KEY, pa.int64()), *_NUMBERS])

    @cached_property
    def output_schema(self) -> pa.Schema:
        return pa.schema([*(self.left.field(name) for name in self._columns), KIND_FIELD])

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        """Net numbers, of one row per distinct row; with a TTL of those that cancel out, too: they live on."""
        names = [name for name in delta.column_names if name != KIND_COLUMN]
        columns = [column_array(delta, name) for name in names]
        rows = group(hash_rows(delta, names))
        numbers = [np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)]
        numbers[input] = rows.sum(signs(delta))
        some = np.arange(len(rows)) if self.ttl_ms else np.flatnonzero(numbers[input])
        first = pa.array(rows.first[some])
        arrays = [*(column.take(first) for column in columns), pa.array(rows.hashes.h1[some].view(np.int64))]
        return pa.Table.from_arrays([*arrays, *(pa.array(n[some]) for n in numbers)], schema=self.exchange_schema)

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        rows = group(hash_rows(delta, self._columns))
        table = state.table("numbers", _NUMBERS, self._columns, ttl_ms=self.ttl_ms)
        found = table.lookup(rows.hashes)
        before = {name: np.zeros(len(rows), dtype=np.int64) for name in (LEFT, RIGHT)}
        for name, numbers in before.items():
            numbers[found.key_index] = column_array(found.entries, name).to_numpy()
        wanted = {name: numbers + _total(rows, delta, name) for name, numbers in before.items()}
        after = {name: np.maximum(numbers, 0) for name, numbers in wanted.items()}
        stale = sum(int(np.sum(after[name] - wanted[name])) for name in after)
        there = {True: (after[LEFT] > 0) | (after[RIGHT] > 0), False: (before[LEFT] > 0) | (before[RIGHT] > 0)}
        put, drop = there[True], there[False] & ~there[True]
        table.write(
            pa.table({name: numbers[put] for name, numbers in after.items()}),
            pa.table({name: numbers[drop] for name, numbers in before.items()}),
            upsert_keys=rows.hashes.take(put),
            delete_keys=rows.hashes.take(drop),
        )
        change = self._number(after) - self._number(before)
        changed = np.flatnonzero(change)
        result = delta.select(self._columns).combine_chunks().take(pa.array(rows.first[changed]))
        out = changelog(result, change[changed], None, True).cast(self.output_schema)
        counters = {SUPPRESSED: len(rows) - len(changed), STALE: stale}
        return Output(out, {name: n for name, n in counters.items() if n})

    def _number(self, numbers: dict[str, Ints]) -> Ints:
        """How often rows are in the result."""
        left, right = numbers[LEFT], numbers[RIGHT]
        if self.all:
            return np.minimum(left, right) if self.intersect else np.maximum(left - right, 0)
        return np.asarray((left > 0) & ((right > 0) == self.intersect)).astype(np.int64)


def _total(rows: Groups, delta: pa.Table, name: str) -> Ints:
    return rows.sum(column_array(delta, name).to_numpy())
