"""OVER in the order of time: each row with aggregates of the rows before it, given once and never changed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.aggregate_functions import LAG, Keeps
from rowkind.kinds import RowKind
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.frames import Frames, runs
from rowkind.operators.aggregate.group_aggregate import Aggregate
from rowkind.operators.arrivals import PLACE
from rowkind.operators.changes import Groups, Ints, column_array, group
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.over.frame_results import frame_result, neighbour
from rowkind.operators.over.preceding_rows import Expiring, PrecedingRows, Span
from rowkind.operators.over.unbounded_frames import run_on
from rowkind.operators.partitioned import Partitioned
from rowkind.operators.pending_rows import PendingRows, release, sequences
from rowkind.operators.timers import LATE, MILLISECOND, DueTimes, Now, check_times, micros
from rowkind.state.contract import StateTables
from rowkind.state.hashing import concat_hashes, hash_rows


@dataclass(frozen=True)
class Over(Partitioned):
    """`calls` over a frame of `preceding` rows, or microseconds, or of all rows before (None), and the row itself.

    By event time (`time`) rows wait until the watermark has passed them; without it they come in the order of arrival,
    at the batch's clock. Rows of one time are in one frame unless `rows` are counted. Without calls rows are only put
    in order.
    """

    calls: tuple[AggregateCall, ...]
    rows: bool
    preceding: int | None
    time: str | None
    ttl_ms: int = 0

    @cached_property
    def exchange_schema(self) -> pa.Schema:
        return self.columns.append(pa.field(PLACE, pa.int64()))

    @cached_property
    def output_schema(self) -> pa.Schema:
        return self.with_results(*(call.field for call in self.calls))

    @cached_property
    def made(self) -> Aggregate:
        """The calls that aggregate, as those of a GROUP BY: it has their accumulators."""
        calls = tuple(call for call in self.calls if call.function != LAG)
        return Aggregate(self.input, self.partition, calls, append_only=True, ttl_ms=self.ttl_ms)

    @property
    def _reach(self) -> int | None:
        return None if self.rows else self.preceding

    @cached_property
    def tail(self) -> PrecedingRows:
        read = {name for c in self.calls for name in (c.argument, c.filter, c.default) if name is not None}
        columns = pa.schema([field for field in self.columns if field.name in read])
        limit = self.preceding if self.rows else None
        if self.preceding is None and not any(call.entry.keeps is Keeps.LIST for call in self.made.calls):
            limit = max((call.offset for call in self.calls if call.function == LAG), default=0)
        return PrecedingRows(columns, limit, self._reach, self.ttl_ms)

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        if self.time is not None:
            check_times(delta.column(self.time), self.time)
        place = pa.array(order + np.arange(delta.num_rows))
        columns = [*(delta.column(name) for name in self.columns.names), place]
        return pa.Table.from_arrays(columns, schema=self.exchange_schema)

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        now = Now.of(batch, self.time is None)
        due_times = DueTimes(state) if self.time is not None or self._reach is not None else None
        due = np.zeros(0, dtype=np.int64) if due_times is None else due_times.due(now.after)
        ready, at, waiting, late = self._ready(delta.combine_chunks(), state, due, now, batch)
        expiring = None if self._reach is None else Expiring.open(state, due)
        hashes = hash_rows(ready, self.partition)
        groups = group(hashes if expiring is None else concat_hashes(hashes, expiring.partitions))
        owner = groups.index[: len(hashes)]
        span = self.tail.span(ready, owner, at, batch.version, groups, state)
        results = self._results(span, groups, state, batch.version)
        self.tail.write(span, groups, state, now.after)
        expiries = None if expiring is None else expiring.write(span, self._reach or 0, groups, now.after)
        timer = None
        if due_times is not None:
            added = waiting if expiries is None else np.concatenate([waiting, expiries])
            due_times.write(added, due)
            timer = due_times.next(now.after, added) if self.time is None else None
        return Output(self._output(ready, owner, results), {LATE: late} if late else {}, timer)

    def _ready(
        self, delta: pa.Table, state: StateTables, due: Ints, now: Now, batch: BatchContext
    ) -> tuple[pa.Table, Ints, Ints, int]:
        """The rows whose time has come, in order, and their times; when others are due; and how many came late."""
        sequence = sequences(column_array(delta, PLACE).to_numpy(), batch.version)
        nothing = np.zeros(0, dtype=np.int64)
        if self.time is None:
            rows = delta.take(pa.array(np.argsort(sequence)))
            clock = batch.clock // MILLISECOND * MILLISECOND
            return rows.select(self.columns.names), np.full(rows.num_rows, clock), nothing, 0
        # With its number each row is another: equal rows of one time keep their places.
        numbered = delta.set_column(delta.schema.get_field_index(PLACE), PLACE, pa.array(sequence))
        close = micros(column_array(delta, self.time))
        late = close <= now.before
        given = PendingRows(numbered, np.ones(len(close), dtype=np.int64), sequence, close)
        ready, waiting, _ = release(given.take(np.flatnonzero(~late)), "rows", state, due, now)
        ready = ready.take(np.lexsort([ready.sequence, ready.close]))
        return ready.rows.select(self.columns.names), ready.close, waiting, int(late.sum())

    def _results(self, span: Span, groups: Groups, state: StateTables, version: int) -> dict[str, pa.Array]:
        """By call, in order of the partitions."""
        frames = self._frames(span)
        own, begins = np.flatnonzero(span.fresh), runs(span.owner)[0]
        results: dict[str, pa.Array] = {}
        if self.preceding is None and self.made.accumulators:
            fresh = span.rows.filter(pa.array(span.fresh)).combine_chunks()
            place = np.cumsum(span.fresh) - 1
            results |= run_on(self.made, fresh, span.owner[own], place[frames.last], groups, state, version)
        for at, call in enumerate(self.made.calls):
            if call.name not in results:
                results[call.name] = frame_result(call, self.made.accumulators.get(at), span.rows, frames)
        for call in self.calls:
            if call.function == LAG:
                results[call.name] = neighbour(call, span.rows, frames.last, begins[own], frames.last)
        return results

    def _frames(self, span: Span) -> Frames:
        """The frame of each row of the batch."""
        own = np.flatnonzero(span.fresh)
        begins = runs(span.owner)[0][own]
        by_row = self.rows or (self.time is None and self.preceding is None)
        last = own if by_row else runs(span.owner, span.at)[1][own]
        if self.preceding is None:
            return Frames(begins, last)
        if self.rows:
            return Frames(np.maximum(begins, own - self.preceding), last)
        return Frames(_first_since(span, own, span.at[own] - self.preceding), last)

    def _output(self, ready: pa.Table, owner: Ints, results: dict[str, pa.Array]) -> pa.Table:
        place = np.empty(len(owner), dtype=np.int64)
        place[np.argsort(owner, kind="stable")] = np.arange(len(owner))
        columns = [results[call.name].take(pa.array(place)) for call in self.calls]
        kinds = pa.array(np.full(len(owner), RowKind.INSERT, dtype=np.int8))
        return pa.Table.from_arrays([*ready.columns, *columns, kinds], schema=self.output_schema)


def _first_since(span: Span, own: Ints, since: Ints) -> Ints:
    """For each row the position of the first one of its partition that is not older than a time."""
    times, code = np.unique(np.concatenate([span.at, since]), return_inverse=True)
    places = span.owner * len(times) + code[: len(span.at)]
    return np.searchsorted(places, span.owner[own] * len(times) + code[len(span.at) :])
