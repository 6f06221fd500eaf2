"""One state table: reads over its runs, newest first, and the one write of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.state.contract import Found, Order
from rowkind.state.hashing import KeyHashes, hash_rows
from rowkind.state.merge import first_of_each, sorted_newest_first
from rowkind.state.ordering import order_codes
from rowkind.state.sorted_run import H1, H2, Rows, Run, stored_schema


@dataclass(frozen=True, slots=True)
class TableDefinition:
    """A table as an operator opens it."""

    name: str
    schema: pa.Schema
    key: tuple[str, ...]
    sort: tuple[Order, ...] = ()
    ttl_ms: int = 0

    @property
    def identity(self) -> str:
        """What must not change while there is state."""
        columns = ", ".join(f"{field.name} {field.type}" for field in self.schema)
        sort = ", ".join(map(_ordered, self.sort))
        return f"({columns}) by ({', '.join(self.key)})" + (f" sorted by ({sort})" if sort else "")


def _ordered(order: Order) -> str:
    nulls = (
        ""
        if order.nulls_first in (None, not order.descending)
        else f" nulls {'first' if order.nulls_first else 'last'}"
    )
    return f"{order.column}{' desc' if order.descending else ''}{nulls}"


@dataclass(frozen=True, slots=True)
class _Piece:
    """Rows of one run that belong to searched keys (by position among them), in the run's order."""

    run: Run
    rank: int
    position: Rows
    rows: Rows
    edge: npt.NDArray[np.bool_] | None = None
    """Whether a row is the last one read of its key while the run has more of it."""


class StateTable:
    """Implements `State`. `runs` are oldest first; the write is kept as a sorted table for the store."""

    def __init__(self, definition: TableDefinition, runs: Sequence[Run], clock_ms: int) -> None:
        self.definition = definition
        self.clock_ms = clock_ms
        self._newest_first = list(runs)[::-1]
        self.delta: pa.Table | None = None
        self.expired = 0
        """Entries that were looked up after their time."""

    @property
    def expired_before(self) -> int | None:
        """Entries written at or before this time are gone."""
        return self.clock_ms - self.definition.ttl_ms if self.definition.ttl_ms else None

    def lookup(self, keys: pa.Table | KeyHashes) -> Found:
        order, keys = self._sorted(keys)
        if self.definition.sort:
            pieces = []
            for rank, run in enumerate(self._newest_first):
                start, stop = run.ranges(keys)
                pieces.append(_Piece(run, rank, *_expand(np.arange(len(keys)), start, stop)))
            entries, position, _ = self._resolve(pieces)
        else:
            entries, position = self._lookup_unique(keys)
        return _by_index(entries, order[position])

    def _lookup_unique(self, keys: KeyHashes) -> tuple[pa.Table, Rows]:
        pending = np.arange(len(keys))
        tables, positions = [], []
        for run in self._newest_first:
            if not len(pending):
                break
            rows = run.find(keys.take(pending) if len(pending) < len(keys) else keys)
            hit = rows >= 0
            position, rows = pending[hit], rows[hit]
            pending = pending[~hit]
            live = self._live(run, rows)
            self.expired += int(self._expired(run, rows).sum())
            if live.any():
                tables.append(run.take(rows[live]))
                positions.append(position[live])
        if not tables:
            return self.definition.schema.empty_table(), np.zeros(0, dtype=np.int64)
        return pa.concat_tables(tables).cast(self.definition.schema), np.concatenate(positions)

    def first(self, keys: pa.Table | KeyHashes, limit: int | npt.NDArray[np.int64], *, last: bool = False) -> Found:
        order, keys = self._sorted(keys)
        wanted = np.broadcast_to(np.asarray(limit, dtype=np.int64), len(keys))[order]
        spans = [run.ranges(keys) for run in self._newest_first]
        window = wanted + 1
        active = np.flatnonzero(wanted > 0)
        tables, positions = [], []
        while len(active):
            pieces = [
                _window(run, rank, active, start, stop, window[active], last)
                for rank, (run, (start, stop)) in enumerate(zip(self._newest_first, spans, strict=True))
            ]
            entries, position, complete = self._resolve(pieces, last)
            counts = np.bincount(position[complete], minlength=len(keys))
            # a key without a single unread entry is complete, however few it has
            open_keys = np.zeros(len(keys), dtype=bool)
            for piece in pieces:
                assert piece.edge is not None
                open_keys[piece.position[piece.edge]] = True
            done = ~open_keys | (counts >= wanted)
            keep = complete & done[position]
            keep[keep] &= _within(position[keep], counts, wanted, last)
            tables.append(entries.filter(pa.array(keep)))
            positions.append(position[keep])
            active = active[~done[active]]
            window[active] *= 4
        if not tables:
            return Found(self.definition.schema.empty_table(), np.zeros(0, dtype=np.int64))
        return _by_index(pa.concat_tables(tables), order[np.concatenate(positions)])

    def write(
        self,
        upserts: pa.Table | None,
        deletes: pa.Table | None = None,
        *,
        upsert_keys: KeyHashes | None = None,
        delete_keys: KeyHashes | None = None,
    ) -> None:
        if self.delta is not None:
            raise ValueError(f"state table {self.definition.name} is written twice in one batch")
        parts = [
            self._stored(table, keys, gone)
            for table, keys, gone in ((upserts, upsert_keys, 0), (deletes, delete_keys, 1))
            if table is not None
        ]
        if not parts:
            return
        stored = pa.concat_tables(parts).combine_chunks()
        h1, h2 = (stored.column(name).combine_chunks().to_numpy() for name in (H1, H2))
        codes = order_codes(stored, self.definition.sort)
        order = sorted_newest_first(h1, h2, codes)
        if not first_of_each(order, [h1, h2, *codes]).all():
            raise ValueError(f"an entry of state table {self.definition.name} is written twice in one batch")
        self.delta = stored.take(pa.array(order))

    def _stored(self, table: pa.Table, keys: KeyHashes | None, gone: int) -> pa.Table:
        if keys is None:
            keys = hash_rows(table, self.definition.key)
        size = len(keys)
        columns = [
            pa.array(keys.h1),
            pa.array(keys.h2),
            pa.array(np.full(size, gone, dtype=np.int8)),
            pa.array(np.full(size, self.clock_ms, dtype=np.int64)),
        ]
        sort = {order.column for order in self.definition.sort}
        for field in self.definition.schema:
            absent = gone and (field.name not in sort) and field.name not in table.column_names
            columns.append(pa.nulls(size, field.type) if absent else table.column(field.name).cast(field.type))
        return pa.Table.from_arrays(columns, schema=stored_schema(self.definition.schema))

    def _sorted(self, keys: pa.Table | KeyHashes) -> tuple[Rows, KeyHashes]:
        if not isinstance(keys, KeyHashes):
            keys = hash_rows(keys, self.definition.key)
        if not np.any(keys.h1[1:] < keys.h1[:-1]):
            return np.arange(len(keys)), keys
        order = np.argsort(keys.h1)
        return order, keys.take(order)

    def _live(self, run: Run, rows: Rows) -> npt.NDArray[np.bool_]:
        gone = run.gone(rows)
        if self.expired_before is not None:
            gone |= run.written(rows) <= self.expired_before
        return ~gone

    def _expired(self, run: Run, rows: Rows) -> npt.NDArray[np.bool_]:
        """Whether rows are no longer there for their age alone."""
        if self.expired_before is None:
            return np.zeros(len(rows), dtype=bool)
        return np.asarray(~run.gone(rows) & (run.written(rows) <= self.expired_before))

    def _resolve(self, pieces: Sequence[_Piece], last: bool = False) -> tuple[pa.Table, Rows, npt.NDArray[np.bool_]]:
        """The live entries of the pieces in order, the position of each, and whether all before it has been read."""
        pieces = [piece for piece in pieces if len(piece.rows)]
        if not pieces:
            return self.definition.schema.empty_table(), np.zeros(0, dtype=np.int64), np.zeros(0, dtype=bool)
        position = np.concatenate([piece.position for piece in pieces])
        table = pa.concat_tables([p.run.take(p.rows) for p in pieces]).combine_chunks()
        live = np.concatenate([self._live(p.run, p.rows) for p in pieces])
        rank = np.repeat([p.rank for p in pieces], [len(p.rows) for p in pieces])
        codes = order_codes(table, self.definition.sort)
        order = np.lexsort([rank, *codes[::-1], position])
        newest = first_of_each(order, [position, *codes])
        keep = newest & live[order]
        if self.expired_before is not None:
            expired = np.concatenate([self._expired(p.run, p.rows) for p in pieces])
            self.expired += int((newest & expired[order]).sum())
        complete = np.ones(len(order), dtype=bool)
        if pieces[0].edge is not None:
            edge = np.concatenate([p.edge for p in pieces if p.edge is not None])[order]
            complete = _before_edge(position[order], edge, last)
        chosen = order[keep]
        return table.take(pa.array(chosen)).cast(self.definition.schema), position[chosen], complete[keep]


def _expand(position: Rows, start: Rows, stop: Rows) -> tuple[Rows, Rows]:
    """The ranges [start, stop) row by row, each row with its position."""
    counts = stop - start
    ends = np.cumsum(counts)
    rows = np.arange(ends[-1] if len(ends) else 0) + np.repeat(start - (ends - counts), counts)
    return np.repeat(position, counts), rows


def _window(run: Run, rank: int, active: Rows, start: Rows, stop: Rows, window: Rows, last: bool) -> _Piece:
    """The first (or last) `window` rows of each active key."""
    start, stop = start[active], stop[active]
    more = stop - start > window
    if last:
        low, high = np.where(more, stop - window, start), stop
    else:
        low, high = start, np.where(more, start + window, stop)
    position, rows = _expand(active, low, high)
    edge = np.zeros(len(rows), dtype=bool)
    counts = high - low
    ends = np.cumsum(counts)
    edge[(ends - counts if last else ends - 1)[more]] = True
    return _Piece(run, rank, position, rows, edge)


def _before_edge(position: Rows, edge: npt.NDArray[np.bool_], last: bool) -> npt.NDArray[np.bool_]:
    """Of rows in order: whether none of its key's edges lies before it (after it with `last`)."""
    size = len(position)
    at = np.arange(size)
    keys = int(position.max(initial=-1)) + 1
    if last:
        nearest = np.full(keys, -1, dtype=np.int64)
        np.maximum.at(nearest, position[edge], at[edge])
        return np.asarray(at >= nearest[position])
    nearest = np.full(keys, size, dtype=np.int64)
    np.minimum.at(nearest, position[edge], at[edge])
    return np.asarray(at <= nearest[position])


def _within(position: Rows, counts: Rows, limit: Rows, last: bool) -> npt.NDArray[np.bool_]:
    """Of rows in order of position: whether each is among the first (or last) `limit` of its position."""
    if not len(position):
        return np.zeros(0, dtype=bool)
    new = np.concatenate([[True], position[1:] != position[:-1]])
    begins = np.flatnonzero(new)
    number = np.arange(len(position)) - np.repeat(begins, np.diff(np.append(begins, len(position))))
    if last:
        number = counts[position] - 1 - number
    return np.asarray(number < limit[position])


def _by_index(entries: pa.Table, index: Rows) -> Found:
    if len(index) > 1 and np.any(index[1:] < index[:-1]):
        order = np.argsort(index, kind="stable")
        index = index[order]
        entries = entries.combine_chunks().take(pa.array(order)) if entries.num_columns else entries
    return Found(entries, index)
