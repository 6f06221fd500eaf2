"""FOR SYSTEM_TIME AS OF: each left row with the version that its key had in the right table at the row's time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.join_kind import JoinKind
from rowkind.kinds import RowKind
from rowkind.operators.arrivals import PLACE
from rowkind.operators.changes import KIND_FIELD, Bools, Ints, column_array, group, kept_columns, signs
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.join.residual import Residual
from rowkind.operators.join.two_inputs import KEY, TwoInputs, places
from rowkind.operators.pending_rows import PendingRows, release, sequences
from rowkind.operators.timers import DueTimes, Now, check_times, micros
from rowkind.state.contract import StateTables
from rowkind.state.hashing import KeyHashes, concat_hashes, hash_rows

_VERSION = pa.schema([("__at", pa.int64()), ("__deleted", pa.bool_())])
TIMELESS = "deletes_without_time"
"""Counter: tombstones of a versioned table. They say no time, so the versions there are stay valid, as in Flink."""
_NOW = 0
"""The time of the one version that counts by processing time."""


@dataclass(frozen=True)
class TemporalJoin:
    """Left rows only add. By event time they wait until time has passed them, and versions that no row can ask for any
    more are removed; without times the version is the newest one, and left rows do not wait."""

    left: pa.Schema
    right: pa.Schema
    kind: JoinKind
    left_keys: tuple[str, ...]
    right_keys: tuple[str, ...]
    left_time: str | None
    right_time: str | None
    residual: Residual | None = None

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return self.left, self.right

    @property
    def key(self) -> tuple[str, ...]:
        return (KEY,)

    @cached_property
    def _exchange(self) -> TwoInputs:
        return TwoInputs(kept_columns(self.left), kept_columns(self.right))

    @property
    def exchange_schema(self) -> pa.Schema:
        return self._exchange.schema

    @cached_property
    def output_schema(self) -> pa.Schema:
        return pa.schema([*kept_columns(self.left), *kept_columns(self.right), KIND_FIELD])

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        """The weight tells the place in the input, negative for a row that goes: the last change of a time counts."""
        time, keys = ((self.left_time, self.left_keys), (self.right_time, self.right_keys))[input]
        sign = signs(delta)
        if time is not None:
            check_times(delta.column(time).filter(pa.array(sign > 0)), time)
        return self._exchange.pack(input, delta, hash_rows(delta, keys), sign * places(delta, order))

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        now = Now.of(batch, False)
        rows = self._ready(delta, state, batch, now)
        given, place = self._exchange.unpack(delta, 1)
        timeless = 0
        if self.right_time is not None and column_array(given, self.right_time).null_count:
            timed = column_array(given, self.right_time).is_valid().to_numpy(zero_copy_only=False)
            given, place, timeless = given.filter(pa.array(timed)), place[timed], int(np.sum(~timed))
        hashes = concat_hashes(hash_rows(rows, self.left_keys), hash_rows(given, self.right_keys))
        keys = group(hashes)
        of_left, of_right = np.split(keys.index, [rows.num_rows])
        versions = self._versions(given, place, of_right, keys.hashes, state, now)
        at = micros(column_array(rows, self.left_time)) if self.left_time is not None else np.zeros(rows.num_rows)
        joined = self._joined(rows, versions, versions.valid_for(of_left, at.astype(np.int64)))
        return Output(joined, {TIMELESS: timeless} if timeless else {})

    def _ready(self, delta: pa.Table, state: StateTables, batch: BatchContext, now: Now) -> pa.Table:
        """Left rows that time has passed, in the order in which they came; late ones too, for what is still known."""
        given, place = self._exchange.unpack(delta, 0)
        if np.any(place < 0):
            raise ValueError("the left side of a temporal join takes rows back")
        if self.left_time is None:
            return given.take(pa.array(np.argsort(place)))
        due_times = DueTimes(state)
        due = due_times.due(now.after)
        at = micros(column_array(given, self.left_time))
        # With its number each row is another: equal rows of one time keep their places.
        sequence = sequences(place, batch.version)
        numbered = given.append_column(PLACE, pa.array(sequence))
        waiting = PendingRows(numbered, np.ones(len(at), dtype=np.int64), sequence, at)
        ready, later, _ = release(waiting, "left", state, due, now)
        due_times.write(later, due)
        return ready.rows.take(pa.array(np.argsort(ready.sequence))).drop_columns([PLACE])

    def _versions(
        self, given: pa.Table, given_at: Ints, key: Ints, keys: KeyHashes, state: StateTables, now: Now
    ) -> _Versions:
        schema = pa.schema([*_VERSION, *kept_columns(self.right)])
        table = state.table("versions", schema, ("key",), ("__at",))
        found = table.lookup(keys)
        stored = len(found.key_index)
        fresh = (
            np.full(len(given_at), _NOW) if self.right_time is None else micros(column_array(given, self.right_time))
        )
        at = np.concatenate([column_array(found.entries, "__at").to_numpy(), fresh])
        gone = np.concatenate([column_array(found.entries, "__deleted").to_numpy(zero_copy_only=False), given_at < 0])
        owner = np.concatenate([found.key_index, key])
        place = np.concatenate([np.zeros(stored, dtype=np.int64), np.abs(given_at)])
        rows = pa.concat_tables([found.entries.select(given.column_names), given]).combine_chunks()
        order = np.lexsort([place, at, owner])
        last = np.ones(len(order), dtype=bool)
        last[:-1] = (owner[order][1:] != owner[order][:-1]) | (at[order][1:] != at[order][:-1])
        versions = _Versions(rows, order[last], owner, at, gone.astype(bool))
        kept = versions.needed(now.after if self.right_time is not None else _NOW)
        put, drop = (
            kept[kept >= stored],
            np.setdiff1d(np.arange(stored), np.concatenate([kept, _replaced(versions, stored)])),
        )
        table.write(
            versions.entries(put, schema),
            versions.entries(drop, schema),
            upsert_keys=keys.take(owner[put]),
            delete_keys=keys.take(owner[drop]),
        )
        return versions

    def _joined(self, rows: pa.Table, versions: _Versions, version: Ints) -> pa.Table:
        for name in self.left_keys:
            version = np.where(column_array(rows, name).is_valid().to_numpy(zero_copy_only=False), version, -1)
        if self.residual is not None:
            version = self._holding(rows, versions, version)
        if self.kind is JoinKind.INNER:
            rows, version = rows.filter(pa.array(version >= 0)), version[version >= 0]
        others = versions.rows.take(pa.array(version, mask=version < 0))
        kinds = pa.array(np.full(rows.num_rows, RowKind.INSERT, dtype=np.int8))
        return pa.Table.from_arrays([*rows.columns, *others.columns, kinds], schema=self.output_schema)

    def _holding(self, rows: pa.Table, versions: _Versions, version: Ints) -> Ints:
        """The versions for which the residual condition holds."""
        assert self.residual is not None
        some = np.flatnonzero(version >= 0)
        if not len(some):
            return version
        sides = ((rows, some), (versions.rows, version[some]))
        columns = {name: side.column(name).take(pa.array(at)) for side, at in sides for name in side.column_names}
        true: Bools = self.residual.evaluate(pa.table({name: columns[name] for name in self.residual.columns}))
        version = version.copy()
        version[some[~true]] = -1
        return version


@dataclass(frozen=True, slots=True)
class _Versions:
    """Versions of keys by number; `order` is those that count, by key and time: the last one of each time."""

    rows: pa.Table
    order: Ints
    owner: Ints
    at: Ints
    gone: Bools

    def valid_for(self, owner: Ints, at: Ints) -> Ints:
        """The version of each key at each time, -1 where there is none or it was deleted."""
        both = np.concatenate([self.owner[self.order], owner])
        times = np.concatenate([self.at[self.order], at])
        asks = np.repeat([0, 1], [len(self.order), len(owner)])
        sorted_ = np.lexsort([asks, times, both])
        known = np.where(asks[sorted_] == 0, np.arange(len(sorted_)), -1)
        last = np.maximum.accumulate(known) if len(known) else known
        found = np.full(len(owner), -1, dtype=np.int64)
        asking = np.flatnonzero(asks[sorted_] == 1)
        given = sorted_[asking] - len(self.order)
        before = last[asking]
        valid = before >= 0
        version = self.order[sorted_[before[valid]]] if len(self.order) else np.zeros(0, dtype=np.int64)
        same = self.owner[version] == owner[given[valid]]
        same &= ~self.gone[version]
        found[given[valid][same]] = version[same]
        return found

    def needed(self, until: int) -> Ints:
        """Versions that a row after `until` may ask for: later ones, and the last one up to then."""
        owner, at = self.owner[self.order], self.at[self.order]
        followed = np.zeros(len(owner), dtype=bool)
        followed[:-1] = (owner[1:] == owner[:-1]) & (at[1:] <= until)
        return self.order[~followed]

    def entries(self, chosen: Ints, schema: pa.Schema) -> pa.Table:
        columns = [pa.array(self.at[chosen]), pa.array(self.gone[chosen])]
        return pa.Table.from_arrays([*columns, *self.rows.take(pa.array(chosen)).columns], schema=schema)


def _replaced(versions: _Versions, stored: int) -> Ints:
    """Stored versions in whose place a new one of the same time is put."""
    return np.setdiff1d(np.arange(stored), versions.order)
