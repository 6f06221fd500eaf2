"""Rows that are kept in order of arrival, found again by their content (or their own key) when they are taken back.

Each row that is added gets a sequence number that grows with the batches and, within one, with the input. What is taken
back is the oldest equal row; one that is taken back before it was ever added is not.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rowkind.kinds import KIND_COLUMN
from rowkind.operators.changes import Groups, Ints, column_array, group, shortfall, signs
from rowkind.state.contract import Found, Order, State, StateTables
from rowkind.state.hashing import KeyHashes, extend

SEQUENCE, PLACE = "__sequence", "__place"
SEQUENCE_FIELD = pa.field(SEQUENCE, pa.int64())
_BATCH_BITS = 32


@dataclass(frozen=True, slots=True)
class Moves:
    """What a batch does to the kept rows: which come, with their sequence numbers, and which of the old ones go."""

    rows: pa.Table
    """Rows that come, and `__sequence`."""
    owner: Ints
    """The partition, by number, of each."""
    gone: pa.Table
    """Order columns and `__sequence` of rows that go."""
    gone_owner: Ints
    stale: int = 0
    duplicate: int = 0


def sequenced(rows: pa.Table, version: int) -> pa.Table:
    """Rows with `__place` in the input, as rows with `__sequence`."""
    place = column_array(rows, PLACE).to_numpy()
    if len(place) >> _BATCH_BITS:
        raise OverflowError("more than 2**32 rows of one partition in one batch")
    number = np.empty(len(place), dtype=np.int64)
    number[np.argsort(place, kind="stable")] = (version << _BATCH_BITS) + np.arange(len(place))
    return rows.drop_columns([PLACE]).append_column(SEQUENCE_FIELD, pa.array(number))


def added(delta: pa.Table, owner: Ints, version: int) -> Moves:
    """Of input that takes nothing back."""
    if np.any(signs(delta) < 0):
        raise ValueError("the input of a Top-N is declared append-only, but rows were taken back")
    rows = sequenced(delta.drop_columns([KIND_COLUMN]), version)
    return Moves(rows, owner, rows.slice(0, 0), owner[:0])


@dataclass(frozen=True, slots=True)
class Arrivals:
    """How rows are found again. `identity`: the columns of a row's own key; None: equal rows cannot be told apart."""

    columns: tuple[str, ...]
    order: tuple[str, ...]
    identity: tuple[str, ...] | None
    ttl_ms: int

    def moves(self, delta: pa.Table, owners: Groups, state: StateTables, version: int) -> Moves:
        """Takes the batch's rows in; the state that finds them again is written here."""
        schema = pa.schema([*(delta.schema.field(name) for name in self.order), SEQUENCE_FIELD])
        sort = (Order(SEQUENCE),) if self.identity is None else ()
        table = state.table("arrivals", schema, ("partition", "row"), sort, self.ttl_ms)
        identity = self.columns if self.identity is None else self.identity
        partition = owners.hashes.take(owners.index)
        rows = group(extend(partition, [delta.column(name) for name in identity]))
        find = self._oldest if self.identity is None else self._replaced
        chosen = find(delta, rows, partition, table)
        fresh = sequenced(delta.drop_columns([KIND_COLUMN]).take(pa.array(chosen.come)), version)
        gone = np.ones(len(chosen.gone.key_index), dtype=bool)
        if self.identity is not None:
            replaced = np.zeros(len(rows), dtype=bool)
            replaced[rows.index[chosen.come]] = True
            gone = ~replaced[chosen.gone.key_index]
        table.write(
            fresh.select(schema.names),
            chosen.gone.entries.filter(pa.array(gone)),
            upsert_keys=rows.hashes.take(rows.index[chosen.come]),
            delete_keys=rows.hashes.take(chosen.gone.key_index[gone]),
        )
        gone_owner = owners.index[rows.first[chosen.gone.key_index]]
        return Moves(fresh, owners.index[chosen.come], chosen.gone.entries, gone_owner, chosen.stale, chosen.duplicate)

    def _oldest(self, delta: pa.Table, rows: Groups, partition: KeyHashes, table: State) -> _Chosen:
        """Equal rows are a queue: the oldest go first, stored ones before those of the batch."""
        weight = signs(delta)
        place = column_array(delta, PLACE).to_numpy()
        back = -rows.sum(np.minimum(weight, 0))
        found = table.first(rows.hashes, back)
        held = np.bincount(found.key_index, minlength=len(rows))
        short = shortfall(rows.index, place, weight, held)
        rest = back - short - held
        adds = np.flatnonzero(weight > 0)
        adds = adds[np.lexsort([place[adds], rows.index[adds]])]
        of_row = rows.index[adds]
        number = np.arange(len(adds)) - np.searchsorted(of_row, of_row)
        return _Chosen(adds[number >= rest[of_row]], found, int(short.sum()))

    def _replaced(self, delta: pa.Table, rows: Groups, partition: KeyHashes, table: State) -> _Chosen:
        """A row takes the place of the one with its key. What is added wins over what is taken back: a row that moved
        between tasks may come before it goes."""
        contents = group(extend(partition, [delta.column(name) for name in self.columns]))
        weight = signs(delta)
        net = contents.sum(weight)
        if self.ttl_ms:  # a row that goes and comes again is written again, and lives on
            place, nothing = column_array(delta, PLACE).to_numpy(), np.zeros(len(contents), dtype=np.int64)
            net[(net == 0) & (shortfall(contents.index, place, weight, nothing) > 0)] = 1
        net = net[contents.index]
        touched = rows.any(net != 0)
        adds = np.flatnonzero((net > 0) & (weight > 0))
        adds = adds[np.argsort(column_array(delta, PLACE).to_numpy()[adds], kind="stable")]
        last = np.full(len(rows), -1, dtype=np.int64)
        last[rows.index[adds]] = adds
        numbers = np.flatnonzero(touched)
        found = table.lookup(rows.hashes.take(numbers))
        found = Found(found.entries, numbers[found.key_index])
        had = np.zeros(len(rows), dtype=bool)
        had[found.key_index] = True
        come = last[last >= 0]
        stale = int(np.sum(touched & (last < 0) & ~had))
        return _Chosen(come, found, stale, int(contents.any(net > 0).sum()) - len(come))


@dataclass(frozen=True, slots=True)
class _Chosen:
    """Rows of the delta that stay, and stored entries that go, by number of the row."""

    come: Ints
    gone: Found
    stale: int
    duplicate: int = 0
