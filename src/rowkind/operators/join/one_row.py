"""A join side with one row a key: an entry of its state is the row."""

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
    Netted,
    identities,
    netted,
    with_matches,
)
from rowkind.state.contract import StateTables
from rowkind.state.hashing import concat_hashes


class OneRow:
    """Implements `SideState`. All touched keys are looked up once; the row that is found is the old one."""

    def __init__(
        self, side: JoinSide, name: str, keys: Groups, arrived: Arrived, state: StateTables, keeps_matches: bool
    ) -> None:
        self._side, self._keys = side, keys
        schema = side.columns.append(pa.field(MATCHES, pa.int64())) if keeps_matches else side.columns
        self._table = state.table(name, schema, side.keys, ttl_ms=side.ttl_ms)
        entries, key = self._table.lookup(keys.hashes)
        entries = entries.combine_chunks()
        ones = np.ones(len(key), dtype=np.int64)
        matches = column_array(entries, MATCHES).to_numpy() if keeps_matches else np.zeros_like(ones)
        self._held = Held(entries, key, ones, matches, identities(keys, key, entries, side.others))
        self._had = np.zeros(len(keys), dtype=bool)
        self._had[key] = True
        self.counts = Counts()
        self.changes = self._effective(arrived)

    def _effective(self, arrived: Arrived) -> Changes:
        """A key's new row replaces what is stored; a key that is only taken from becomes empty."""
        identity = identities(self._keys, arrived.key, arrived.rows, self._side.others)
        given = netted(arrived, identity)
        adds = np.flatnonzero(given.weight > 0)
        chosen = np.full(len(self._keys), -1, dtype=np.int64)
        chosen[given.key[adds]] = adds
        touched = np.zeros(len(self._keys), dtype=bool)
        touched[given.key] = True
        comes = chosen >= 0
        self.counts.duplicate = int(given.weight[adds].sum() - comes.sum())
        self.counts.stale = int(np.sum(touched & ~comes & ~self._had))
        self._has = np.where(touched, comes, self._had)
        same = self._unchanged(given, chosen)
        self.counts.unchanged = given.cancelled + int(same.sum())
        self._seen = np.zeros(len(self._keys), dtype=bool)
        if self._side.ttl_ms:  # a row that comes again as it was lives on
            self._seen[given.again_key] = True
            self._seen[self._held.key[same]] = True
        comes[self._held.key[same]] = False
        old, new = np.flatnonzero(touched[self._held.key] & ~same), chosen[comes]
        rows = [
            self._held.entries.select(self._side.columns.names).take(pa.array(old)),
            arrived.rows.take(pa.array(given.row[new])),
        ]
        weight = np.repeat(np.array([-1, 1]), [len(old), len(new)])
        return Changes(
            pa.concat_tables(rows).combine_chunks(),
            np.concatenate([self._held.key[old], given.key[new]]),
            weight,
            np.maximum(weight, 0),
            concat_hashes(self._held.identity.take(old), given.identity.take(new)),
        )

    def _unchanged(self, given: Netted, chosen: Ints) -> Bools:
        """The held rows whose key gets the very same row."""
        place = chosen[self._held.key]
        if not len(given.key):
            return np.zeros(len(place), dtype=bool)
        old, new = self._held.identity, given.identity
        return np.asarray((place >= 0) & (new.h1[place] == old.h1) & (new.h2[place] == old.h2))

    def rows(self, keys: Bools) -> Held:
        return self._held if keys.all() else self._held.take(keys[self._held.key])

    def exists(self) -> tuple[Bools, Bools]:
        return self._had, self._has

    def write(self, matches: Ints | None = None, held: Held | None = None, held_matches: Ints | None = None) -> None:
        new = np.flatnonzero(self.changes.weight > 0)
        puts, keys = self.changes.rows.take(pa.array(new)), self.changes.key[new]
        self._seen[self.changes.key] = False
        if matches is not None and held is not None and held_matches is not None:
            puts = puts.append_column(MATCHES, pa.array(matches[new]))
            changed = np.zeros(len(self._keys), dtype=bool)
            changed[self.changes.key] = True
            again = with_matches(held, held_matches, ~changed[held.key])
            puts, keys = pa.concat_tables([puts, again.entries]), np.concatenate([keys, again.key])
            self._seen[again.key] = False
        if self._seen.any():
            same = self._held.take(self._seen[self._held.key])
            puts, keys = pa.concat_tables([puts, same.entries]), np.concatenate([keys, same.key])
        gone = self._had & ~self._has
        self._table.write(
            puts,
            puts.slice(0, 0).select([]),
            upsert_keys=self._keys.hashes.take(keys),
            delete_keys=self._keys.hashes.take(gone),
        )
