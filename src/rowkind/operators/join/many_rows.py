"""Join sides with any number of rows a key."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rowkind.operators.changes import Bools, Groups, Ints, column_array
from rowkind.operators.join.sides import (
    MATCHES,
    Arrived,
    Changes,
    Counts,
    Held,
    JoinSide,
    Multiplicity,
    among,
    identities,
    netted,
    with_matches,
)
from rowkind.state.contract import Found, State, StateTables
from rowkind.state.hashing import KeyHashes, concat_hashes

NUMBER, VERSION, ROW1, ROW2 = "__number", "__version", "__row1", "__row2"
_NUMBERS = pa.schema([(NUMBER, pa.int64())])


def counted(table: State, changes: Changes, counts: Counts, again: KeyHashes | None = None) -> Changes:
    """Bring the number of each changed row up to date; the changes as far as there was something to take back.

    `again` are rows that came again as they were: their numbers are written anew, so that they live on.
    """
    found = table.lookup(changes.identity)
    before = np.zeros(len(changes.key), dtype=np.int64)
    before[found.key_index] = column_array(found.entries, NUMBER).to_numpy()
    wanted = before + changes.weight
    after = np.maximum(wanted, 0)
    counts.stale += int(np.sum(after - wanted))
    gone = (before > 0) & (after == 0)
    puts, keys = after[after > 0], changes.identity.take(after > 0)
    if again is not None and len(again):
        same = table.lookup(again)
        puts = np.concatenate([puts, column_array(same.entries, NUMBER).to_numpy()])
        keys = concat_hashes(keys, again.take(same.key_index))
    table.write(
        pa.table({NUMBER: puts}),
        pa.table({NUMBER: before[gone]}),
        upsert_keys=keys,
        delete_keys=changes.identity.take(gone),
    )
    real = np.flatnonzero(after != before)
    if len(real) == len(after):
        return Changes(changes.rows, changes.key, after - before, after, changes.identity)
    rows = changes.rows.take(pa.array(real))
    return Changes(rows, changes.key[real], (after - before)[real], after[real], changes.identity.take(real))


class ManyRows:
    """Implements `SideState`: an entry is a row, found by its hash within the key.

    Rows that may be there more than once, and be taken back, are counted in a table of their own: a number must be
    found without reading all rows of its key.
    """

    def __init__(
        self,
        side: JoinSide,
        name: str,
        keys: Groups,
        arrived: Arrived,
        state: StateTables,
        keeps_matches: bool,
        version: int,
    ) -> None:
        self._side, self._keys, self._version, self._keeps_matches = side, keys, version, keeps_matches
        self._appends = side.rows is Multiplicity.APPEND_ONLY
        sort = [*([VERSION] if self._appends else []), ROW1, ROW2]
        extra = [*sort, NUMBER, *([MATCHES] if keeps_matches else [])]
        self.schema = pa.schema([*side.columns, *(pa.field(column, pa.int64()) for column in extra)])
        self._table = state.table(name, self.schema, side.keys, sort, side.ttl_ms)
        self.counts = Counts()
        identity = identities(keys, arrived.key, arrived.rows, side.others)
        given = netted(arrived, identity)
        self.counts.unchanged = given.cancelled
        rows = arrived.rows.take(pa.array(given.row))
        self.changes = Changes(rows, given.key, given.weight, given.weight, given.identity)
        self._again, self._again_key = given.again, given.again_key
        if self._appends and np.any(self.changes.weight < 0):
            raise ValueError(f"the {name} input of a join is declared append-only, but rows were taken back")
        if side.rows is Multiplicity.DISTINCT:
            self.changes = self._distinct(self.changes)
        elif side.rows is Multiplicity.ANY:
            numbers = state.table(f"{name}_numbers", _NUMBERS, ("key", "row"), ttl_ms=side.ttl_ms)
            self.changes = counted(numbers, self.changes, self.counts, given.again if side.ttl_ms else None)
        self._read: tuple[Bools, Held] | None = None

    def _distinct(self, given: Changes) -> Changes:
        weight = np.sign(given.weight)
        self.counts.duplicate += int(np.sum(np.abs(given.weight - weight)))
        return Changes(given.rows, given.key, weight, np.maximum(weight, 0), given.identity)

    def rows(self, keys: Bools) -> Held:
        chosen = np.flatnonzero(keys)
        self._read = keys, self.held(self._table.lookup(self._keys.hashes.take(chosen)), chosen)
        return self._read[1]

    def held(self, found: Found, chosen: Ints) -> Held:
        """Entries that were read for the chosen keys."""
        entries = found.entries.combine_chunks()
        key = chosen[found.key_index]
        identity = KeyHashes(*(column_array(entries, name).to_numpy().view(np.uint64) for name in (ROW1, ROW2)))
        weight = column_array(entries, NUMBER).to_numpy()
        matches = column_array(entries, MATCHES).to_numpy() if self._keeps_matches else np.zeros_like(weight)
        return Held(entries, key, weight, matches, identity)

    def exists(self) -> tuple[Bools, Bools]:
        """Reads one row more than the batch removes: what is left of a key shows whether it still has any."""
        size = len(self._keys)
        gone = self.changes.after == 0
        removed = np.bincount(self.changes.key[gone], minlength=size)
        assert self._read is not None
        whole, read = self._read
        chosen = np.flatnonzero(~whole)
        some = self.held(self._table.first(self._keys.hashes.take(chosen), removed[chosen] + 1), chosen)
        was, now = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
        for held in (read, some):
            was[held.key] = True
            now[held.key[~among(held.identity, self.changes.identity.take(gone))]] = True
        now[self.changes.key[~gone]] = True
        return was, now

    def write(self, matches: Ints | None = None, held: Held | None = None, held_matches: Ints | None = None) -> None:
        gone = self.changes.after == 0
        entries = self.entries(matches)
        written = self._again.take(np.zeros(0, dtype=np.int64))
        puts, keys = entries.filter(pa.array(~gone)), self.changes.key[~gone]
        if held is not None and held_matches is not None:
            changed = (
                np.zeros(len(held.key), dtype=bool) if self._appends else among(held.identity, self.changes.identity)
            )
            again = with_matches(held, held_matches, ~changed)
            puts, keys = pa.concat_tables([puts, again.entries]), np.concatenate([keys, again.key])
            written = again.identity
        if len(self._again) and self._side.ttl_ms:
            same = self.seen_again(written)
            puts, keys = pa.concat_tables([puts, same.entries]), np.concatenate([keys, same.key])
        self._table.write(
            puts,
            entries.filter(pa.array(gone)),
            upsert_keys=self._keys.hashes.take(keys),
            delete_keys=self._keys.hashes.take(self.changes.key[gone]),
        )

    def seen_again(self, written: KeyHashes | None = None) -> Held:
        """With a TTL, the held rows that came again as they were, but those that are `written` anyway: they live on."""
        chosen = np.unique(self._again_key) if self._side.ttl_ms else np.zeros(0, dtype=np.int64)
        held = self.held(self._table.lookup(self._keys.hashes.take(chosen)), chosen)
        same = among(held.identity, self._again)
        return held.take(same if written is None else same & ~among(held.identity, written))

    def entries(self, matches: Ints | None = None) -> pa.Table:
        """The changed rows as entries of the state."""
        numbers = {
            VERSION: np.full(len(self.changes.key), self._version, dtype=np.int64),
            ROW1: self.changes.identity.h1.view(np.int64),
            ROW2: self.changes.identity.h2.view(np.int64),
            NUMBER: self.changes.after,
            MATCHES: matches,
        }
        rows = self.changes.rows
        columns = [numbers[f.name] if f.name in numbers else rows.column(f.name) for f in self.schema]
        return pa.table(columns, schema=self.schema)
