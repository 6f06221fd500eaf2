"""GROUP BY of a window: one row per group when the window closes, and nothing is kept of it from then on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.aggregate_functions import Keeps
from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.aggregate.accumulators import ints
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.group_aggregate import ROWS, Aggregate
from rowkind.operators.aggregate.kept_values import PART, Slot, arrived
from rowkind.operators.changes import Bools, Groups, Ints, column_array, group, signs
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.join.sides import among
from rowkind.operators.timers import LATE, DueTimes, Now, by_close, check_times, closes
from rowkind.operators.window.window_state import Owners, WindowState
from rowkind.state.contract import StateTables
from rowkind.state.hashing import KeyHashes, concat_hashes, hash_rows

GIVEN = "__given"
"""How many input rows an exchanged row stands for."""


@dataclass(frozen=True)
class WindowAggregate:
    """`SELECT keys, calls FROM windows GROUP BY keys`; the window's start and end are among the keys.

    An aggregate whose results are held back. Input may take rows back until the window closes. `local` windows are in
    wall-clock time of the session's zone; with `proctime` they close by the batch's clock. Rows are spread by
    `spread_by`, the keys without the window, so that the windows of one key are given in the order of their ends.
    """

    input: pa.Schema
    keys: tuple[str, ...]
    calls: tuple[AggregateCall, ...]
    end: str
    time: str
    append_only: bool = False
    local: bool = False
    proctime: bool = False
    spread_by: tuple[str, ...] | None = None

    @cached_property
    def inner(self) -> Aggregate:
        return Aggregate(self.input, self.keys, self.calls, self.append_only, update_before=False, unchanged=True)

    @property
    def input_schemas(self) -> tuple[pa.Schema, ...]:
        return (self.input,)

    @property
    def key(self) -> tuple[str, ...]:
        return self.keys if self.spread_by is None else self.spread_by

    @cached_property
    def exchange_schema(self) -> pa.Schema:
        return self.inner.exchange_schema.append(pa.field(GIVEN, pa.int64()))

    @property
    def output_schema(self) -> pa.Schema:
        return self.inner.output_schema

    @cached_property
    def _window_schema(self) -> pa.Schema:
        keys = [self.input.field(name) for name in self.keys]
        return pa.schema([pa.field("h1", pa.int64()), pa.field("h2", pa.int64()), *keys])

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        check_times(delta.column(self.end), self.time)
        rows = self.inner.combine(delta, input, order)
        given = np.zeros(rows.num_rows, dtype=np.int64)
        groups = group(hash_rows(delta, self.keys))
        given[: len(groups)] = groups.sum(np.abs(signs(delta)))
        return rows.append_column(self.exchange_schema.field(GIVEN), pa.array(given))

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        now, due_times = Now.of(batch, self.proctime), DueTimes(state)
        delta = delta.combine_chunks()
        close = self._closes(delta, batch)
        late = close <= now.before
        dropped = int(ints(column_array(delta, GIVEN))[late].sum())
        delta = delta.drop_columns([GIVEN])
        if late.any():
            delta, close = delta.filter(pa.array(~late)), close[~late]
        due = due_times.due(now.after)
        windows = state.table("windows", self._window_schema, ("close",), ("h1", "h2"))
        ending = windows.lookup(by_close(due))
        rows = pa.concat_tables([delta, self._woken(ending.entries)]).combine_chunks()
        touched = group(hash_rows(delta, self.keys))
        at = close[touched.first]
        closing = group(concat_hashes(_hashes(ending.entries), touched.hashes.take(at <= now.after))).hashes

        held = WindowState(state)
        results = self.inner.process(rows, held, batch)
        held.write(closing, self._owners(rows))
        fresh = (at > now.after) & ~_known(touched, held)
        windows.write(
            self._entries(delta, touched, np.flatnonzero(fresh)),
            ending.entries,
            upsert_keys=by_close(at[fresh]),
            delete_keys=by_close(due[ending.key_index]),
        )
        due_times.write(at[fresh], due)
        counters = {name: count for name, count in {**results.counters, LATE: dropped}.items() if count}
        timer = due_times.next(now.after, at[fresh]) if self.proctime else None
        return Output(self._closed(results.rows, now, batch), counters, timer)

    def _closes(self, rows: pa.Table, batch: BatchContext) -> Ints:
        return closes(column_array(rows, self.end), self.local, batch.zone)

    def _woken(self, windows: pa.Table) -> pa.Table:
        """Rows that add nothing: they bring the groups of closing windows up."""
        columns = {name: column_array(windows, name) for name in self.keys}
        nothing = np.zeros(windows.num_rows, dtype=np.int64)
        columns |= {ROWS: pa.array(nothing), PART: pa.array(nothing.astype(np.int8))}
        return self.inner.padded(columns, windows.num_rows)

    def _owners(self, rows: pa.Table) -> dict[str, Owners]:
        groups = group(hash_rows(rows, self.keys))
        return {
            f"{_table_of(slot, self.append_only)}{slot.number}": self._owners_of(slot, rows, groups)
            for slot in self.inner.slots
        }

    def _owners_of(self, slot: Slot, rows: pa.Table, groups: Groups) -> Owners:
        found = arrived(slot, rows, groups)
        return Owners(found.pairs.hashes, groups.hashes.take(found.pair_group))

    def _entries(self, delta: pa.Table, groups: Groups, chosen: Ints) -> pa.Table:
        rows = pa.array(groups.first[chosen])
        hashes = groups.hashes.take(chosen)
        columns = [pa.array(hashes.h1.view(np.int64)), pa.array(hashes.h2.view(np.int64))]
        columns += [column_array(delta, name).take(rows) for name in self.keys]
        return pa.Table.from_arrays(columns, schema=self._window_schema)

    def _closed(self, results: pa.Table, now: Now, batch: BatchContext) -> pa.Table:
        close = self._closes(results, batch)
        closed = np.flatnonzero((signs(results) > 0) & (close <= now.after))
        rows = results.take(pa.array(closed[np.argsort(close[closed], kind="stable")]))
        kinds = pa.array(np.full(rows.num_rows, RowKind.INSERT, dtype=np.int8))
        field = self.output_schema.field(KIND_COLUMN)
        return rows.set_column(rows.column_names.index(KIND_COLUMN), field, kinds)


def _table_of(slot: Slot, append_only: bool) -> str:
    """The table in which an aggregate finds the values of a slot."""
    if slot.keeps is Keeps.ENDING:
        return "queue"
    return "members" if append_only else "counts"


def _hashes(windows: pa.Table) -> KeyHashes:
    return KeyHashes(*(column_array(windows, name).to_numpy().view(np.uint64) for name in ("h1", "h2")))


def _known(groups: Groups, held: WindowState) -> Bools:
    return among(groups.hashes, held.tables["groups"].known)
