"""The last rows of each partition, kept because later frames reach back to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rowkind.operators.aggregate.frames import runs
from rowkind.operators.arrivals import SEQUENCE, SEQUENCE_FIELD
from rowkind.operators.changes import Bools, Groups, Ints, column_array, group
from rowkind.operators.timers import by_close
from rowkind.state.contract import State, StateTables
from rowkind.state.hashing import KeyHashes, extend

AT = "__at"
_EXPIRING = pa.schema([("h1", pa.int64()), ("h2", pa.int64())])


@dataclass(frozen=True, slots=True)
class Span:
    """Rows in order of their partition, then of time: those kept from before and those of the batch."""

    rows: pa.Table
    owner: Ints
    sequence: Ints
    fresh: Bools

    @property
    def at(self) -> Ints:
        return np.asarray(column_array(self.rows, AT).to_numpy())


@dataclass(frozen=True, slots=True)
class PrecedingRows:
    """`limit` is how many rows are kept (None: all of them), or `reach` for how many microseconds of time."""

    columns: pa.Schema
    limit: int | None
    reach: int | None
    ttl_ms: int

    @property
    def schema(self) -> pa.Schema:
        return pa.schema([SEQUENCE_FIELD, pa.field(AT, pa.int64()), *self.columns])

    @property
    def kept(self) -> bool:
        return self.limit != 0

    def table(self, state: StateTables) -> State:
        return state.table("tail", self.schema, ("partition",), (SEQUENCE,), self.ttl_ms)

    def span(self, rows: pa.Table, owner: Ints, at: Ints, version: int, groups: Groups, state: StateTables) -> Span:
        """The batch's rows, which are in order of time, after those that are kept of their partitions."""
        numbers = [pa.array((version << 32) + np.arange(len(owner))), pa.array(at)]
        fresh = pa.Table.from_arrays([*numbers, *rows.select(self.columns.names).columns], schema=self.schema)
        stored, index = self._stored(groups, state)
        owners = np.concatenate([index, owner])
        order = np.argsort(owners, kind="stable")
        together = pa.concat_tables([stored, fresh]).combine_chunks().take(pa.array(order)).combine_chunks()
        sequence = column_array(together, SEQUENCE).to_numpy()
        return Span(together.drop_columns([SEQUENCE]), owners[order], sequence, order >= len(index))

    def _stored(self, groups: Groups, state: StateTables) -> tuple[pa.Table, Ints]:
        if not self.kept:
            return self.schema.empty_table(), np.zeros(0, dtype=np.int64)
        table = self.table(state)
        return table.lookup(groups.hashes) if self.limit is None else table.first(groups.hashes, self.limit, last=True)

    def write(self, span: Span, groups: Groups, state: StateTables, now: int) -> None:
        """Keeps what later frames may ask for, when time is at `now`."""
        if not self.kept:
            return
        stays = np.ones(len(span.owner), dtype=bool)
        if self.reach is not None:
            stays = span.at + self.reach > now
        elif self.limit is not None:
            stays = runs(span.owner)[1] - np.arange(len(span.owner)) < self.limit
        put, drop = np.flatnonzero(stays & span.fresh), np.flatnonzero(~stays & ~span.fresh)
        self.table(state).write(
            self._entries(span, put),
            self._entries(span, drop),
            upsert_keys=groups.hashes.take(span.owner[put]),
            delete_keys=groups.hashes.take(span.owner[drop]),
        )

    def _entries(self, span: Span, chosen: Ints) -> pa.Table:
        columns = span.rows.take(pa.array(chosen)).columns
        return pa.Table.from_arrays([pa.array(span.sequence[chosen]), *columns], schema=self.schema)


@dataclass(frozen=True, slots=True)
class Expiring:
    """Partitions by the time at which nothing of them is needed any more, so that those without new rows go, too."""

    table: State
    due: Ints
    entries: pa.Table
    close: Ints

    @staticmethod
    def open(state: StateTables, due: Ints) -> Expiring:
        table = state.table("expiring", _EXPIRING, ("close",), ("h1", "h2"))
        found = table.lookup(by_close(due))
        return Expiring(table, due, found.entries, due[found.key_index])

    @property
    def partitions(self) -> KeyHashes:
        return KeyHashes(*(column_array(self.entries, name).to_numpy().view(np.uint64) for name in ("h1", "h2")))

    def write(self, span: Span, reach: int, groups: Groups, now: int) -> Ints:
        """Notes when the newest rows expire; gives those times."""
        newest = np.flatnonzero(span.fresh & (runs(span.owner)[1] == np.arange(len(span.owner))))
        newest = newest[span.at[newest] + reach > now]
        close, keys = span.at[newest] + reach, groups.hashes.take(span.owner[newest])
        once = group(extend(by_close(close), [pa.array(keys.h1), pa.array(keys.h2)])).first
        hashes = [pa.array(h[once].view(np.int64)) for h in (keys.h1, keys.h2)]
        self.table.write(
            pa.Table.from_arrays(hashes, schema=_EXPIRING),
            self.entries,
            upsert_keys=by_close(close[once]),
            delete_keys=by_close(self.close),
        )
        return close
