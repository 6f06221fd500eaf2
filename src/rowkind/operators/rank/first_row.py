"""The first row of each partition by event time: final, and given once, when time has passed it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from rowkind.kinds import RowKind
from rowkind.operators.arrivals import PLACE, SEQUENCE, SEQUENCE_FIELD
from rowkind.operators.changes import Bools, Groups, Ints, column_array, group
from rowkind.operators.contract import BatchContext, Output
from rowkind.operators.partitioned import Partitioned
from rowkind.operators.pending_rows import sequences
from rowkind.operators.timers import LATE, DueTimes, Now, by_close, check_times, micros
from rowkind.state.contract import StateTables
from rowkind.state.hashing import KeyHashes, concat_hashes, hash_rows

_TIMERS = pa.schema([("h1", pa.int64()), ("h2", pa.int64())])
_NOTHING = pa.schema([])


@dataclass(frozen=True)
class FirstRow(Partitioned):
    """ROW_NUMBER() OVER (PARTITION BY partition ORDER BY time) = 1; of rows of one time the one that came first.

    A row before the watermark is late, as in Flink. What is kept of a partition is the earliest row until time has
    passed it, and from then on that there was one; only that is forgotten by the TTL.
    """

    time: str
    rank: pa.Field | None = None
    ttl_ms: int = 0

    @cached_property
    def exchange_schema(self) -> pa.Schema:
        return self.columns.append(pa.field(PLACE, pa.int64()))

    @cached_property
    def output_schema(self) -> pa.Schema:
        return self.with_results(self.rank)

    def combine(self, delta: pa.Table, input: int = 0, order: int = 0) -> pa.Table:
        check_times(delta.column(self.time), self.time)
        place = pa.array(order + np.arange(delta.num_rows))
        columns = [*(delta.column(name) for name in self.columns.names), place]
        return pa.Table.from_arrays(columns, schema=self.exchange_schema)

    def process(self, delta: pa.Table, state: StateTables, batch: BatchContext) -> Output:
        now, due_times = Now.of(batch, False), DueTimes(state)
        given, late = self._in_time(delta.combine_chunks(), batch, now)
        due = due_times.due(now.after)
        timers = state.table("timers", _TIMERS, ("close",), ("h1", "h2"))
        woken = timers.lookup(by_close(due))
        owners = group(concat_hashes(hash_rows(given, self.partition), _hashes(woken.entries)))
        had = self._given_before(owners, state)

        waiting = state.table("waiting", given.schema, ("partition",))
        found = waiting.lookup(owners.hashes)
        rows = pa.concat_tables([found.entries, given]).combine_chunks()
        owner = np.concatenate([found.key_index, owners.index[: given.num_rows]])
        at = micros(column_array(rows, self.time))
        first = self._first(rows, owner, at, had)
        passed = at[first] <= now.after
        old = np.arange(len(found.key_index))
        goes = old[~np.isin(old, first[~passed])]
        stays = first[~passed & (first >= len(old))]
        waiting.write(
            rows.take(pa.array(stays)),
            rows.take(pa.array(goes[~np.isin(owner[goes], owner[stays])])),
            upsert_keys=owners.hashes.take(owner[stays]),
            delete_keys=owners.hashes.take(owner[goes[~np.isin(owner[goes], owner[stays])]]),
        )
        timers.write(
            _entries(owners.hashes.take(owner[stays])),
            _entries(owners.hashes.take(owner[goes])),
            upsert_keys=by_close(at[stays]),
            delete_keys=by_close(at[goes]),
        )
        due_times.write(at[stays], due)
        out = first[passed]
        self._note(owners.hashes.take(owner[out]), state)
        return Output(self._output(rows, out, at), {LATE: late} if late else {})

    def _in_time(self, delta: pa.Table, batch: BatchContext, now: Now) -> tuple[pa.Table, int]:
        """Rows with their numbers, and how many came late."""
        sequence = sequences(column_array(delta, PLACE).to_numpy(), batch.version)
        rows = delta.drop_columns([PLACE]).append_column(SEQUENCE_FIELD, pa.array(sequence))
        late = micros(column_array(delta, self.time)) < now.before
        return rows.filter(pa.array(~late)), int(late.sum())

    def _given_before(self, owners: Groups, state: StateTables) -> Bools:
        had = np.zeros(len(owners), dtype=bool)
        had[state.table("given", _NOTHING, ("partition",), ttl_ms=self.ttl_ms).lookup(owners.hashes).key_index] = True
        return had

    def _note(self, partitions: KeyHashes, state: StateTables) -> None:
        table = state.table("given", _NOTHING, ("partition",), ttl_ms=self.ttl_ms)
        table.write(_NOTHING.empty_table(), upsert_keys=partitions)

    def _first(self, rows: pa.Table, owner: Ints, at: Ints, had: Bools) -> Ints:
        """The earliest row of each partition that has not had one."""
        order = np.lexsort([column_array(rows, SEQUENCE).to_numpy(), at, owner])
        leads = np.ones(len(order), dtype=bool)
        leads[1:] = owner[order][1:] != owner[order][:-1]
        first = order[leads]
        return np.asarray(first[~had[owner[first]]])

    def _output(self, rows: pa.Table, out: Ints, at: Ints) -> pa.Table:
        out = out[np.lexsort([column_array(rows, SEQUENCE).to_numpy()[out], at[out]])]
        columns = rows.drop_columns([SEQUENCE]).take(pa.array(out)).columns
        if self.rank is not None:
            columns = [*columns, pa.array(np.ones(len(out), dtype=np.int64)).cast(self.rank.type)]
        kinds = pa.array(np.full(len(out), RowKind.INSERT, dtype=np.int8))
        return pa.Table.from_arrays([*columns, kinds], schema=self.output_schema)


def _entries(partitions: KeyHashes) -> pa.Table:
    return pa.table({"h1": partitions.h1.view(np.int64), "h2": partitions.h2.view(np.int64)}, _TIMERS)


def _hashes(timers: pa.Table) -> KeyHashes:
    return KeyHashes(*(column_array(timers, name).to_numpy().view(np.uint64) for name in ("h1", "h2")))
