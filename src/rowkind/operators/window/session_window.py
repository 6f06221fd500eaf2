"""SESSION: rows of a partition that follow each other within a gap, given with their window when it closes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.kinds import RowKind
from rowkind.operators.changes import KIND_FIELD, STALE, Bools, Groups, Ints, column_array, group, signs
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.partitioned import Partitioned
from rowkind.operators.timers import LATE, MILLISECOND, DueTimes, Now, by_close, check_times, closes, micros
from rowkind.operators.window.assign import wall_clock
from rowkind.state.contract import StateTables
from rowkind.state.hashing import KeyHashes, concat_hashes, extend, hash_rows

_TIMER = pa.schema([("close", pa.int64())])
_TIMERS = pa.schema([("h1", pa.int64()), ("h2", pa.int64())])
_AT, _N, _I1, _I2 = "__at", "__n", "__i1", "__i2"


@dataclass(frozen=True)
class Sessions(Partitioned):
    """Rows wait until their session closes, since a row may still join two sessions or, taken back, part one.

    Of every partition the first time at which one of its sessions may close is kept, so that a batch reads partitions
    that it touches and those with something to close.
    """

    time: str
    gap: int
    local: bool = False
    proctime: bool = False
    names: tuple[str, str, str] = ("window_start", "window_end", "window_time")

    @cached_property
    def exchange_schema(self) -> pa.Schema:
        return pa.schema([*self.columns, KIND_FIELD])

    @cached_property
    def output_schema(self) -> pa.Schema:
        plain, kind = pa.timestamp("us"), self.input.field(self.time).type
        made = [pa.field(name, type) for name, type in zip(self.names, (plain, plain, kind), strict=True)]
        return self.with_results(*made)

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        check_times(delta.column(self.time), self.time)
        return delta.select(self.exchange_schema.names).cast(self.exchange_schema)

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        now, due_times = Now.of(batch, self.proctime), DueTimes(state)
        delta = delta.combine_chunks()
        due = due_times.due(now.after)
        timers = state.table("timers", _TIMERS, ("close",), ("h1", "h2"))
        woken = timers.lookup(by_close(due))
        given = hash_rows(delta, self.partition)
        owners = group(concat_hashes(given, _hashes(woken.entries)))

        schema = pa.schema([pa.field(_AT, pa.int64()), *_counted(), *self.columns])
        table = state.table("rows", schema, ("partition",), (_AT, _I1, _I2))
        found = table.lookup(owners.hashes)
        rows = self._rows(delta, owners, found.entries, found.key_index, batch)
        close, start, end, known = self._sessions(rows, batch)
        late = (close <= now.before) & ~known
        closed, stays = ~late & (close <= now.after), close > now.after
        changed = stays & (rows.stored != rows.number)
        gone = (rows.stored > 0) & ((rows.number <= 0) | closed)
        table.write(
            _entries(rows, np.flatnonzero(changed & (rows.number > 0)), schema),
            _entries(rows, np.flatnonzero(gone), schema),
            upsert_keys=owners.hashes.take(rows.owner[changed & (rows.number > 0)]),
            delete_keys=owners.hashes.take(rows.owner[gone]),
        )
        added = self._set_timers(state, owners, rows, close, stays & (rows.number > 0))
        due_times.write(added, due)
        counters = {
            LATE: int(np.abs(rows.number[late]).sum()),
            STALE: int(-rows.number[(rows.number < 0) & ~late].sum()),
        }
        timer = due_times.next(now.after, added) if self.proctime else None
        at = np.repeat(np.flatnonzero(closed), np.maximum(rows.number[closed], 0))
        made = self._made(rows, at, start, end, close)
        return Output(made, {name: count for name, count in counters.items() if count}, timer)

    def _rows(self, delta: pa.Table, owners: Groups, stored: pa.Table, owner: Ints, batch: BatchContext) -> _Rows:
        """Stored rows and the batch's, equal ones once, in order of partition and time."""
        both = pa.concat_tables([stored.select(self.columns.names), delta.select(self.columns.names)]).combine_chunks()
        of = np.concatenate([owner, owners.index[: delta.num_rows]])
        weights = signs(delta)
        before = np.concatenate([column_array(stored, _N).to_numpy(), np.zeros(len(weights), dtype=np.int64)])
        fresh = np.concatenate([np.zeros(len(owner), dtype=np.int64), weights])
        identity = group(extend(owners.hashes.take(of), [both.column(name) for name in self.columns.names]))
        times = column_array(both, self.time)
        at = micros(wall_clock(times, batch.zone) if self.local else times)[identity.first]
        held = identity.sum(before)
        order = np.lexsort([identity.hashes.h2, identity.hashes.h1, at, of[identity.first]])
        taken = both.take(pa.array(identity.first[order]))
        number = (held + identity.sum(fresh))[order]
        hashes = identity.hashes.take(order)
        return _Rows(taken, of[identity.first][order], at[order], number, held[order], hashes)

    def _sessions(self, rows: _Rows, batch: BatchContext) -> tuple[Ints, Ints, Ints, Bools]:
        """For each row when its session closes, starts and ends, and whether it has rows from earlier batches.

        Rows that were taken back belong to none.
        """
        alive = np.flatnonzero(rows.number > 0)
        owner, at = rows.owner[alive], rows.at[alive]
        # As in Flink, windows that touch are one: a row at the very end of a session still belongs to it.
        new = np.ones(len(alive), dtype=bool)
        new[1:] = (owner[1:] != owner[:-1]) | (at[1:] > at[:-1] + self.gap)
        session = np.cumsum(new) - 1
        first = np.flatnonzero(new)
        last = np.append(first[1:], len(alive)) - 1
        start, end, known = rows.at.copy(), rows.at + self.gap, rows.stored > 0
        if len(alive):
            known[alive] = np.logical_or.reduceat(known[alive], first)[session]
            start[alive], end[alive] = at[first][session], (at[last] + self.gap)[session]
        return closes(pa.array(end).cast(pa.timestamp("us")), self.local, batch.zone), start, end, known

    def _set_timers(self, state: StateTables, owners: Groups, rows: _Rows, close: Ints, waits: Bools) -> Ints:
        """One timer a partition: the first close of its sessions."""
        never = np.iinfo(np.int64).max
        first = np.full(len(owners), never)
        np.minimum.at(first, rows.owner[waits], close[waits])
        timer = state.table("timer", _TIMER, ("partition",))
        found = timer.lookup(owners.hashes)
        before = np.full(len(owners), never)
        before[found.key_index] = column_array(found.entries, "close").to_numpy()
        moved = first != before
        put, drop = np.flatnonzero(moved & (first < never)), np.flatnonzero(moved & (before < never))
        off = drop[first[drop] == never]
        timer.write(
            pa.table({"close": first[put]}, _TIMER),
            pa.table({"close": before[off]}, _TIMER),
            upsert_keys=owners.hashes.take(put),
            delete_keys=owners.hashes.take(off),
        )
        state.table("timers", _TIMERS, ("close",), ("h1", "h2")).write(
            _timers(owners.hashes.take(put)),
            _timers(owners.hashes.take(drop)),
            upsert_keys=by_close(first[put]),
            delete_keys=by_close(before[drop]),
        )
        return first[put]

    def _made(self, rows: _Rows, at: Ints, start: Ints, end: Ints, close: Ints) -> pa.Table:
        plain, kind = pa.timestamp("us"), self.input.field(self.time).type
        last = close if self.local else end - MILLISECOND
        bounds = [pa.array(start[at]).cast(plain), pa.array(end[at]).cast(plain)]
        time = pa.array(last[at]).cast(pa.timestamp("us", kind.tz)).cast(kind)
        kinds = pa.array(np.full(len(at), RowKind.INSERT, dtype=np.int8))
        taken = rows.rows.take(pa.array(at))
        return pa.Table.from_arrays([*taken.columns, *bounds, time, kinds], schema=self.output_schema)


@dataclass(frozen=True, slots=True)
class _Rows:
    """Distinct rows: partition by number, time, how many there are and how many were stored."""

    rows: pa.Table
    owner: Ints
    at: Ints
    number: Ints
    stored: Ints
    identity: KeyHashes


def _counted() -> list[pa.Field]:
    return [pa.field(name, pa.int64()) for name in (_I1, _I2, _N)]


def _entries(rows: _Rows, chosen: Ints, schema: pa.Schema) -> pa.Table:
    hashes = rows.identity.take(chosen)
    kept = [rows.at[chosen], hashes.h1.view(np.int64), hashes.h2.view(np.int64), rows.number[chosen]]
    return pa.Table.from_arrays([*map(pa.array, kept), *rows.rows.take(pa.array(chosen)).columns], schema=schema)


def _timers(partitions: KeyHashes) -> pa.Table:
    return pa.table({"h1": partitions.h1.view(np.int64), "h2": partitions.h2.view(np.int64)}, _TIMERS)


def _hashes(timers: pa.Table) -> KeyHashes:
    return KeyHashes(*(column_array(timers, name).to_numpy().view(np.uint64) for name in ("h1", "h2")))
