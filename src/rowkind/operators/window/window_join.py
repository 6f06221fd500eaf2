"""Joins of rows in the same window, when it closes: nothing is kept from then on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.join_kind import JoinKind
from rowkind.kinds import RowKind
from rowkind.operators.changes import KIND_FIELD, STALE, Ints, column_array, group, signs
from rowkind.operators.contract import END_OF_TIME, BatchContext, Output
from rowkind.operators.join.pairs import pairs
from rowkind.operators.join.two_inputs import places
from rowkind.operators.join.two_sided import Side, TwoSided, keyed_rows
from rowkind.operators.pending_rows import PendingRows, release, sequences
from rowkind.operators.timers import LATE, DueTimes, Now, check_times, closes
from rowkind.state.contract import StateTables
from rowkind.state.hashing import concat_hashes, hash_rows


@dataclass(frozen=True)
class WindowSide(Side):
    """One input: the columns that must equal the other side's, and the one that holds the window's end.

    Rows are spread by `spread_by`, the keys without the window.
    """

    end: str
    spread_by: tuple[str, ...] | None = None


@dataclass(frozen=True)
class WindowJoin(TwoSided[WindowSide]):
    """The window is among the keys. Both sides may take rows back until the window closes.

    Windows are given in the order of their ends, the rows of each in the order in which left rows came.
    """

    local: bool = False
    proctime: bool = False

    @cached_property
    def output_schema(self) -> pa.Schema:
        right = [] if self.kind.filters else [*self.right.columns]
        return pa.schema([*self.left.columns, *right, KIND_FIELD])

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        side = self.sides[input]
        check_times(delta.column(side.end), side.end)
        keys = side.keys if side.spread_by is None else side.spread_by
        return self._exchange.pack(input, delta, hash_rows(delta, keys), signs(delta) * places(delta, order))

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        now, due_times = Now.of(batch, self.proctime), DueTimes(state)
        due = due_times.due(now.after)
        late, stale = 0, 0
        closed, added = [], []
        for at, side in enumerate(self.sides):
            rows, place = self._exchange.unpack(delta, at)
            close = closes(column_array(rows, side.end), self.local, batch.zone)
            in_time = np.flatnonzero(close > now.before)
            late += len(close) - len(in_time)
            sequence = sequences(np.abs(place), batch.version)
            given = PendingRows(rows, np.sign(place), sequence, close).take(in_time)
            ready, waits, lost = release(given, ("left", "right")[at], state, due, now)
            ready = ready.take(np.lexsort([ready.sequence, ready.close]))
            closed.append(ready.take(np.repeat(np.arange(len(ready.weight)), ready.weight)))
            added.append(waits)
            stale += lost
        later = np.concatenate(added)
        due_times.write(later, due)
        timer = due_times.next(now.after, later) if self.proctime else None
        counters = {name: count for name, count in {LATE: late, STALE: stale}.items() if count}
        return Output(self._joined(*closed), counters, timer)

    def _joined(self, of_left: PendingRows, of_right: PendingRows) -> pa.Table:
        left, right = of_left.rows, of_right.rows
        keys = group(concat_hashes(hash_rows(left, self.left.keys), hash_rows(right, self.right.keys)))
        numbers = np.split(keys.index, [left.num_rows])
        a, b = (
            np.flatnonzero(keyed_rows(rows, side.keys)) for rows, side in zip((left, right), self.sides, strict=True)
        )
        found: list[tuple[Ints, Ints]] = []
        for x, y in pairs(numbers[0][a], numbers[1][b], len(keys)):
            li, ri = a[x], b[y]
            if self.residual is not None:
                sides = ((left, li), (right, ri))
                columns = {
                    name: rows.column(name).take(pa.array(at)) for rows, at in sides for name in rows.column_names
                }
                true = self.residual.evaluate(pa.table({name: columns[name] for name in self.residual.columns}))
                li, ri = li[true], ri[true]
            found.append((li, ri))
        none = np.zeros(0, dtype=np.int64)
        li = np.concatenate([none, *(x for x, _ in found)])
        ri = np.concatenate([none, *(y for _, y in found)])
        if self.kind.filters:
            matched = np.isin(np.arange(left.num_rows), li)
            return self._rows(left.filter(pa.array(matched == (self.kind is JoinKind.SEMI))))
        alone = [
            np.setdiff1d(np.arange(rows.num_rows), at) if shown else none
            for rows, at, shown in zip((left, right), (li, ri), self.kind.unmatched, strict=True)
        ]
        li = np.concatenate([li, alone[0], np.full(len(alone[1]), -1)])
        ri = np.concatenate([ri, np.full(len(alone[0]), -1), alone[1]])
        close = np.concatenate([of_left.close, [END_OF_TIME]])[li]
        close = np.minimum(close, np.concatenate([of_right.close, [END_OF_TIME]])[ri])
        order = np.lexsort([ri, li, li < 0, close])
        li, ri = li[order], ri[order]
        return self._rows(left.take(pa.array(li, mask=li < 0)), right.take(pa.array(ri, mask=ri < 0)))

    def _rows(self, *sides: pa.Table) -> pa.Table:
        kinds = pa.array(np.full(sides[0].num_rows, RowKind.INSERT, dtype=np.int8))
        columns = [column for side in sides for column in side.columns]
        return pa.Table.from_arrays([*columns, kinds], schema=self.output_schema)
