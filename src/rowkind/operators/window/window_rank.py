"""Top-N of a window: its rows wait until it closes, then the first of each partition are given, once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.kinds import KIND_COLUMN, RowKind
from rowkind.operators.arrivals import PLACE
from rowkind.operators.changes import KIND_FIELD, STALE, column_array, group, signs
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.partitioned import Partitioned
from rowkind.operators.pending_rows import PendingRows, release, sequences
from rowkind.operators.rank.top_n import positions
from rowkind.operators.timers import LATE, DueTimes, Now, check_times, closes
from rowkind.state.contract import Order, StateTables
from rowkind.state.hashing import hash_rows
from rowkind.state.ordering import sort_rows


@dataclass(frozen=True)
class WindowRank(Partitioned):
    """ROW_NUMBER() from `first` to `last` within a partition, which holds the window. Ties go by arrival.

    Rows are spread by `spread_by`, the partition without the window, and windows are given in the order of their ends.
    """

    order: tuple[Order, ...]
    first: int
    last: int
    rank: pa.Field | None
    end: str
    time: str
    latest_first: bool = False
    local: bool = False
    proctime: bool = False
    spread_by: tuple[str, ...] | None = None

    @property
    def key(self) -> tuple[str, ...]:
        return self.partition if self.spread_by is None else self.spread_by

    @cached_property
    def exchange_schema(self) -> pa.Schema:
        return pa.schema([*self.columns, pa.field(PLACE, pa.int64()), KIND_FIELD])

    @cached_property
    def output_schema(self) -> pa.Schema:
        return self.with_results(self.rank)

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        check_times(delta.column(self.end), self.time)
        place = pa.array(order + np.arange(delta.num_rows))
        columns = [*(delta.column(name) for name in self.columns.names), place, delta.column(KIND_COLUMN)]
        return pa.Table.from_arrays(columns, schema=self.exchange_schema)

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        now, due_times = Now.of(batch, self.proctime), DueTimes(state)
        delta = delta.combine_chunks()
        given = PendingRows(
            delta.select(self.columns.names),
            signs(delta),
            sequences(column_array(delta, PLACE).to_numpy(), batch.version),
            closes(column_array(delta, self.end), self.local, batch.zone),
        )
        late = given.close <= now.before
        due = due_times.due(now.after)
        closed, waiting, stale = release(given.take(np.flatnonzero(~late)), "rows", state, due, now)
        due_times.write(waiting, due)
        timer = due_times.next(now.after, waiting) if self.proctime else None
        counters = {LATE: int(late.sum()), STALE: stale}
        return Output(self._ranked(closed), {name: count for name, count in counters.items() if count}, timer)

    def _ranked(self, closed: PendingRows) -> pa.Table:
        repeated = closed.take(np.repeat(np.arange(len(closed.weight)), closed.weight))
        owner = group(hash_rows(repeated.rows, self.partition)).index
        rows = repeated.rows.append_column(PLACE, pa.array(repeated.sequence))
        order = sort_rows(rows, (*self.order, Order(PLACE, self.latest_first)), owner)
        rank = positions(owner[order]) + 1
        shown = np.flatnonzero((rank >= self.first) & (rank <= self.last))
        shown = shown[np.argsort(repeated.close[order[shown]], kind="stable")]
        columns = rows.drop_columns([PLACE]).take(pa.array(order[shown])).columns
        if self.rank is not None:
            columns = [*columns, pa.array(rank[shown]).cast(self.rank.type)]
        kinds = pa.array(np.full(len(shown), RowKind.INSERT, dtype=np.int8))
        return pa.Table.from_arrays([*columns, kinds], schema=self.output_schema)
