"""Joins of two changelogs: inner, left, right, full, semi and anti.

A batch changes the pairs by ΔL ⋈ (R + ΔR) + L ⋈ ΔR, so only keys that either side touches are read. Rows that match
nothing appear alone in outer and anti joins: whether they do, before and after, follows from the keys that the other
side has; with a residual condition each row keeps the number of its matches.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.join_kind import JoinKind
from rowkind.operators.changes import KIND_FIELD, STALE, SUPPRESSED, Bools, Ints, group, plain_columns, signs
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.join.exists import KeyCounts
from rowkind.operators.join.many_rows import ManyRows
from rowkind.operators.join.one_row import OneRow
from rowkind.operators.join.results import Matched, Pool, Results, alone, joined_pairs, matches_of, net_results
from rowkind.operators.join.sides import Arrived, Changes, Held, JoinSide, Multiplicity, SideState
from rowkind.operators.join.two_inputs import TwoInputs
from rowkind.operators.join.two_sided import TwoSided, keyed_rows
from rowkind.operators.weighted import changelog
from rowkind.state.contract import StateTables
from rowkind.state.hashing import KeyHashes, concat_hashes, hash_columns, hash_rows

DUPLICATE = "rows_beyond_one_per_key"
"""Counter: second rows of a key that the planner knows to have one row; the join goes on with one of them."""


@dataclass(frozen=True)
class Join(TwoSided[JoinSide]):
    """`left <kind> JOIN right ON left.keys = right.keys AND residual`; the output is the left columns, then the right.

    Without keys every row meets every other, in one partition. `upsert_key` identifies an output row for whoever reads
    it: see `changelog`. A residual is evaluated in the worker; for an inner join a filter above does the same.
    """

    upsert_key: tuple[str, ...] | None = None
    update_before: bool = True

    def __post_init__(self) -> None:
        left, right = ([side.schema.field(name).type for name in side.keys] for side in self.sides)
        if left != right:
            raise ValueError(f"the keys of a join have different types: {left} and {right}")

    @property
    def _by_existence(self) -> bool:
        return self.kind.filters and self.residual is None

    @cached_property
    def _exchange(self) -> TwoInputs:
        right = self.right.columns
        if self._by_existence:
            right = pa.schema([right.field(name) for name in dict.fromkeys(self.right.keys)])
        return TwoInputs(self.left.columns, right)

    @cached_property
    def output_schema(self) -> pa.Schema:
        left, right = (plain_columns(side.schema) for side in self.sides)
        if self.kind.filters:
            return pa.schema([*left, KIND_FIELD])
        pads_right, pads_left = self.kind.unmatched
        left = [f.with_nullable(f.nullable or pads_left) for f in left]
        right = [f.with_nullable(f.nullable or pads_right) for f in right]
        return pa.schema([*left, *right, KIND_FIELD])

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        side = self.sides[input]
        if not self.kind.unmatched[input]:
            keyed = keyed_rows(delta, side.keys)
            delta = delta if keyed.all() else delta.filter(pa.array(keyed))
        return self._exchange.pack(input, delta, hash_rows(delta, side.keys), signs(delta))

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        work = _Work(self, [self._given(delta, at) for at in (0, 1)], state, batch.version)
        left, right, results = work.filtered() if self._by_existence else work.joined()
        rows = left.rows.take(pa.array(results.left, mask=results.left < 0))
        if not self.kind.filters:
            others = right.rows.take(pa.array(results.right, mask=results.right < 0))
            rows = pa.Table.from_arrays([*rows.columns, *others.columns], names=self.output_schema.names[:-1])
        changes = changelog(rows, results.weight, self.upsert_key, self.update_before)
        return Output(changes.cast(self.output_schema), {k: v for k, v in work.counters.items() if v})

    def _given(self, delta: pa.Table, side: int) -> _Given:
        rows, weight = self._exchange.unpack(delta, side)
        keys = self.sides[side].keys
        hashes = hash_columns([rows.column(name) for name in keys], len(weight))
        keyed = keyed_rows(rows, keys)
        if keyed.all():
            return _Given(rows, weight, hashes, rows.slice(0, 0), weight[:0])
        matching, loose = rows.filter(pa.array(keyed)), rows.filter(pa.array(~keyed))
        return _Given(matching, weight[keyed], hashes.take(keyed), loose, weight[~keyed])


@dataclass(frozen=True, slots=True)
class _Given:
    """The rows of one side in the batch, those whose key is NULL apart: no state is needed for them."""

    rows: pa.Table
    weight: Ints
    hashes: KeyHashes
    loose: pa.Table
    loose_weight: Ints


class _Work:
    """One batch of a join in one partition."""

    def __init__(self, join: Join, given: Sequence[_Given], state: StateTables, version: int) -> None:
        self.join, self.given, self.state, self.version = join, given, state, version
        self.keys = group(concat_hashes(*(side.hashes for side in given)))
        numbers = np.split(self.keys.index, [len(given[0].hashes)])
        self.arrived = [Arrived(side.rows, at, side.weight) for side, at in zip(given, numbers, strict=True)]
        self.counters: Counter[str] = Counter()

    def joined(self) -> tuple[Pool, Pool, Results]:
        """Pairs, and the rows that appear without one. Of a semi or anti join only the latter are results."""
        kind, residual = self.join.kind, self.join.residual
        shows_left, shows_right = kind.unmatched
        shows_left |= kind.filters
        numbered = (residual is not None and shows_left, residual is not None and shows_right)
        sides = [self._side(at, numbered[at]) for at in (0, 1)]
        held = [sides[at].rows(self._touched(sides[1 - at].changes)) for at in (0, 1)]
        left, right = (self._pool(at, sides[at].changes, held[at]) for at in (0, 1))
        li, ri = joined_pairs(left, right, len(self.keys), residual)
        matches = [matches_of(left, li, right.weight[ri]), matches_of(right, ri, left.weight[li])]
        parts = [] if kind.filters else [Results(li, ri, left.weight[li] * right.weight[ri])]
        for at, shows in ((0, shows_left), (1, shows_right)):
            if shows:
                pool = (left, right)[at]
                matched = (
                    Matched.by_number(pool, matches[at]) if residual else Matched.by_key(pool, sides[1 - at].exists())
                )
                rows, weight = alone(pool, matched, wanted=kind is JoinKind.SEMI)
                nothing = np.full(len(rows), -1, dtype=np.int64)
                parts.append(Results(rows, nothing, weight) if at == 0 else Results(nothing, rows, weight))
        for at, pool in ((0, left), (1, right)):
            if numbered[at]:
                changed = pool.changed
                sides[at].write(matches[at][:changed], pool.held, matches[at][changed:] + pool.held.matches)
            else:
                sides[at].write()
        return left, right, net_results(left, right, parts)

    def filtered(self) -> tuple[Pool, Pool, Results]:
        """A semi or anti join without a residual: held left rows are read only where their key came or went."""
        side = self._side(0, False)
        other = KeyCounts(self.join.right, "right", self.keys, self.arrived[1], self.state)
        self.counters[STALE] += other.stale
        was, now = other.exists()
        left = self._pool(0, side.changes, side.rows(was != now))
        rows, weight = alone(left, Matched.by_key(left, (was, now)), wanted=self.join.kind is JoinKind.SEMI)
        side.write()
        return left, left, net_results(left, None, [Results(rows, np.full(len(rows), -1), weight)])

    def _side(self, at: int, keeps_matches: bool) -> SideState:
        side, name = self.join.sides[at], ("left", "right")[at]
        state: SideState
        if side.rows is Multiplicity.ONE_PER_KEY:
            state = OneRow(side, name, self.keys, self.arrived[at], self.state, keeps_matches)
        else:
            state = ManyRows(side, name, self.keys, self.arrived[at], self.state, keeps_matches, self.version)
        self.counters[SUPPRESSED] += state.counts.unchanged
        self.counters[STALE] += state.counts.stale
        self.counters[DUPLICATE] += state.counts.duplicate
        return state

    def _touched(self, changes: Changes) -> Bools:
        touched = np.zeros(len(self.keys), dtype=bool)
        touched[changes.key] = True
        return touched

    def _pool(self, at: int, changes: Changes, held: Held) -> Pool:
        given, side = self.given[at], self.join.sides[at]
        return Pool.of(changes, held, given.loose, given.loose_weight, [*side.keys, *side.others])
