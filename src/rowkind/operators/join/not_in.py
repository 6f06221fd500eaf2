"""NOT IN: an anti join in which a NULL on either side means that nobody knows.

With an empty right side every left row qualifies; with a NULL on the right none does; otherwise those whose value is
not NULL and not on the right. Which of the three holds depends on all right rows, so this operator runs in one
partition. When it changes, all left rows are read once: a first or last row on the right, a first or last NULL.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.operators.changes import (
    KIND_FIELD,
    STALE,
    SUPPRESSED,
    Bools,
    Groups,
    column_array,
    group,
    plain_columns,
    signs,
)
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.join.exists import KeyCounts
from rowkind.operators.join.many_rows import ROW1, ROW2, ManyRows
from rowkind.operators.join.results import Matched, Pool, Results, alone, net_results
from rowkind.operators.join.sides import Arrived, Held, JoinSide
from rowkind.operators.join.two_inputs import TwoInputs
from rowkind.operators.weighted import changelog
from rowkind.state.contract import State, StateTables
from rowkind.state.hashing import concat_hashes, hash_columns, hash_rows

_TOTALS = pa.schema([("rows", pa.int64()), ("nulls", pa.int64())])


@dataclass(frozen=True, slots=True)
class _Totals:
    """How many rows the right side has, and how many of them are NULL."""

    rows: int
    nulls: int

    def qualify(self, null: Bools, exists: Bools) -> Bools:
        """Which left values qualify, given whether they are NULL and whether the right side has them."""
        if not self.rows:
            return np.ones(len(null), dtype=bool)
        return np.zeros(len(null), dtype=bool) if self.nulls else ~null & ~exists

    @property
    def case(self) -> tuple[bool, bool]:
        return self.rows > 0, self.nulls > 0


@dataclass(frozen=True)
class NotIn:
    """`SELECT * FROM left WHERE left_key NOT IN (SELECT right_key FROM right)`.

    With several columns, or a further condition, it is an anti `Join` on a condition that is true where the comparison
    is not false.
    """

    left: pa.Schema
    right: pa.Schema
    left_key: str
    right_key: str
    upsert_key: tuple[str, ...] | None = None
    update_before: bool = True
    ttl_ms: int = 0

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return self.left, self.right

    @property
    def key(self) -> tuple[str, ...]:
        return ()

    @cached_property
    def _sides(self) -> tuple[JoinSide, JoinSide]:
        right = pa.schema([self.right.field(self.right_key)])
        return (
            JoinSide(self.left, (self.left_key,), ttl_ms=self.ttl_ms),
            JoinSide(right, (self.right_key,), ttl_ms=self.ttl_ms),
        )

    @cached_property
    def _exchange(self) -> TwoInputs:
        return TwoInputs(self._sides[0].columns, self._sides[1].columns)

    @property
    def exchange_schema(self) -> pa.Schema:
        return self._exchange.schema

    @cached_property
    def output_schema(self) -> pa.Schema:
        return pa.schema([*plain_columns(self.left), KIND_FIELD])

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        return self._exchange.pack(input, delta, hash_rows(delta, self._sides[input].keys), signs(delta))

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        (rows, weight), (values, value_weight) = (self._exchange.unpack(delta, at) for at in (0, 1))
        keys = group(concat_hashes(hash_rows(rows, [self.left_key]), hash_rows(values, [self.right_key])))
        of_rows, of_values = np.split(keys.index, [rows.num_rows])
        null = np.zeros(len(keys), dtype=bool)
        null[of_rows], null[of_values] = _nulls(rows, self.left_key), _nulls(values, self.right_key)

        left = ManyRows(self._sides[0], "left", keys, Arrived(rows, of_rows, weight), state, False, batch.version)
        right = KeyCounts(self._sides[1], "right", keys, Arrived(values, of_values, value_weight), state)
        everything = state.table("all", left.schema, (), (ROW1, ROW2), self.ttl_ms)
        before, after = self._totals(right, null, state)
        was, now = before.qualify(null, right.before > 0), after.qualify(null, right.after > 0)
        if before.case == after.case:
            pool = Pool.of(left.changes, left.rows(was != now), rows.slice(0, 0), weight[:0], rows.column_names)
            matched = Matched.by_key(pool, (was, now))
        else:
            pool = Pool.of(left.changes, _all_held(left, everything), rows.slice(0, 0), weight[:0], rows.column_names)
            was, still = self._requalified(pool.held, keys, right, before, after)
            matched = Matched(was, np.concatenate([now[left.changes.key], still]))
        at, weights = alone(pool, matched, wanted=True)
        results = net_results(pool, None, [Results(at, np.full(len(at), -1), weights)])
        out = changelog(pool.rows.take(pa.array(results.left)), results.weight, self.upsert_key, self.update_before)
        left.write()
        _write_all(left, everything)
        counters = {STALE: left.counts.stale + right.stale, SUPPRESSED: left.counts.unchanged}
        return Output(out.cast(self.output_schema), {name: n for name, n in counters.items() if n})

    def _totals(self, right: KeyCounts, null: Bools, state: StateTables) -> tuple[_Totals, _Totals]:
        """Before and after the batch."""
        table = state.table("totals", _TOTALS, (), ttl_ms=self.ttl_ms)
        entries = table.lookup(hash_columns([], 1)).entries.to_pylist()
        before = _Totals(**entries[0]) if entries else _Totals(0, 0)
        change = right.after - right.before
        after = _Totals(before.rows + int(change.sum()), before.nulls + int(change[null].sum()))
        table.write(pa.Table.from_pylist([asdict(after)], _TOTALS), upsert_keys=hash_columns([], 1))
        return before, after

    def _requalified(
        self, held: Held, keys: Groups, right: KeyCounts, before: _Totals, after: _Totals
    ) -> tuple[Bools, Bools]:
        """Whether each held row qualifies before and after, when that may be any row's change."""
        known = group(concat_hashes(keys.hashes, hash_rows(held.entries, [self.left_key])))
        touched, row = np.split(known.index, [len(keys)])
        had = right.stored(known.hashes) > 0
        has = had.copy()
        has[touched] = right.after > 0
        null = _nulls(held.entries, self.left_key)
        return before.qualify(null, had[row]), after.qualify(null, has[row])


def _nulls(rows: pa.Table, column: str) -> Bools:
    return np.asarray(column_array(rows, column).is_null().to_numpy(zero_copy_only=False))


def _all_held(left: ManyRows, everything: State) -> Held:
    """All left rows; their key numbers are not known, and not needed."""
    return left.held(everything.lookup(hash_columns([], 1)), np.zeros(1, dtype=np.int64))


def _write_all(left: ManyRows, everything: State) -> None:
    entries, gone = left.entries(), left.changes.after == 0
    puts, drops = entries.filter(pa.array(~gone)), entries.filter(pa.array(gone))
    puts = pa.concat_tables([puts, left.seen_again().entries])
    everything.write(
        puts, drops, upsert_keys=hash_columns([], puts.num_rows), delete_keys=hash_columns([], drops.num_rows)
    )
