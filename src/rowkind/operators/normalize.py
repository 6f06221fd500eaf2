"""Normalisation of an upsert stream: from the last row per key to a changelog with old rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.kinds import KIND_COLUMN
from rowkind.operators.aggregate.kept_values import truth
from rowkind.operators.changes import (
    KIND_FIELD,
    STALE,
    SUPPRESSED,
    Groups,
    Ints,
    column_array,
    difference,
    group,
    scatter,
    signs,
)
from rowkind.operators.contract import BatchContext, Output
from rowkind.state.contract import StateTables
from rowkind.state.hashing import equal_rows, hash_rows

ORDER, REPLACED = "__order", "__replaced"
COALESCED = "changes_coalesced"
"""Counter: rows of a key that a later row of the same batch replaced."""


@dataclass(frozen=True)
class Normalize:
    """Keeps the last full row per primary key, and emits what changed; a delete carries the stored row.

    `input` has the primary key, `__kind`, and, when a filter is pushed in, the boolean column `filter`, which is not
    passed on: a row that fails it counts as deleted. Rows of a key must arrive in their order, in one task or in
    several; of several rows in a batch the last one counts.
    """

    input: pa.Schema
    primary_key: tuple[str, ...]
    filter: str | None = None
    update_before: bool = True
    ttl_ms: int = 0

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return (self.input,)

    @property
    def key(self) -> tuple[str, ...]:
        return self.primary_key

    @cached_property
    def exchange_schema(self) -> pa.Schema:
        return self.input.append(pa.field(ORDER, pa.int64())).append(pa.field(REPLACED, pa.int64()))

    @cached_property
    def _row(self) -> pa.Schema:
        return pa.schema([field for field in self.input if field.name not in (KIND_COLUMN, self.filter)])

    @cached_property
    def output_schema(self) -> pa.Schema:
        return self._row.append(KIND_FIELD)

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        """The last row of each key in this piece."""
        places = order + np.arange(delta.num_rows)
        groups = group(hash_rows(delta, self.primary_key))
        rows = _last(groups, places)
        replaced = groups.sum(np.ones(delta.num_rows, dtype=np.int64)) - 1
        combined = delta.take(pa.array(rows))
        for name, values in ((ORDER, places[rows]), (REPLACED, replaced)):
            combined = combined.append_column(self.exchange_schema.field(name), pa.array(values))
        return combined

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        delta = delta.combine_chunks()
        groups = group(hash_rows(delta, self.primary_key))
        rows = _last(groups, np.asarray(column_array(delta, ORDER).to_numpy(zero_copy_only=False)))
        latest = delta.take(pa.array(rows))
        has = signs(latest) > 0
        if self.filter is not None:
            has &= truth(column_array(latest, self.filter))
        new = latest.select(self._row.names)

        table = state.table("rows", self._row, self.primary_key, ttl_ms=self.ttl_ms)
        found = table.lookup(groups.hashes)
        had = np.zeros(len(groups), dtype=bool)
        had[found.key_index] = True
        nullable = pa.schema([field.with_nullable(True) for field in self._row])
        old = scatter(found.entries.cast(nullable), found.key_index, len(groups))
        new = new.cast(nullable)

        change = difference(old, new, had, has, update_before=self.update_before, keep_unchanged=self.ttl_ms > 0)
        same = had & has & equal_rows(old, new, self._row.names)
        put, drop = has & (~same | bool(self.ttl_ms)), had & ~has
        table.write(
            new.filter(pa.array(put)),
            old.filter(pa.array(drop)),
            upsert_keys=groups.hashes.take(put),
            delete_keys=groups.hashes.take(drop),
        )
        counters = {
            SUPPRESSED: change.suppressed,
            COALESCED: delta.num_rows - len(groups) + int(column_array(delta, REPLACED).to_numpy().sum()),
            STALE: int(np.sum(~had & (signs(latest) < 0))),
        }
        return Output(change.rows.cast(self.output_schema), {k: v for k, v in counters.items() if v})


def _last(groups: Groups, places: Ints) -> Ints:
    """The row of each group with the highest place."""
    highest = np.full(len(groups), np.iinfo(np.int64).min)
    np.maximum.at(highest, groups.index, places)
    rows = np.flatnonzero(places == highest[groups.index])
    last = np.empty(len(groups), dtype=np.int64)
    last[groups.index[rows]] = rows
    return last
