"""The other side of EXISTS, IN and their opposites without further conditions: only whether a key has rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rowkind.operators.changes import Bools, Groups, Ints, column_array
from rowkind.operators.join.sides import Arrived, JoinSide, Multiplicity
from rowkind.state.contract import StateTables
from rowkind.state.hashing import KeyHashes

_NUMBERS = pa.schema([("__number", pa.int64())])


class KeyCounts:
    """The number of rows of each touched key, before and after the batch; written at once."""

    def __init__(self, side: JoinSide, name: str, keys: Groups, arrived: Arrived, state: StateTables) -> None:
        self._table = state.table(name, _NUMBERS, side.keys, ttl_ms=side.ttl_ms)
        before = self.stored(keys.hashes)
        wanted = before.copy()
        np.add.at(wanted, arrived.key, arrived.weight)
        after = np.maximum(wanted, 0)
        self.stale = int(np.sum(after - wanted))
        if side.rows is Multiplicity.ONE_PER_KEY:
            after = np.minimum(after, 1)
        self.before, self.after = before, after
        seen = np.zeros(len(keys), dtype=bool)
        seen[arrived.key] = side.ttl_ms > 0  # with a TTL a key that was seen again lives on
        put, drop = (after > 0) & ((after != before) | seen), (before > 0) & (after == 0)
        self._table.write(
            pa.table({"__number": after[put]}),
            pa.table({"__number": before[drop]}),
            upsert_keys=keys.hashes.take(put),
            delete_keys=keys.hashes.take(drop),
        )

    def stored(self, keys: KeyHashes) -> Ints:
        """The number of rows of any keys, before the batch."""
        found = self._table.lookup(keys)
        numbers = np.zeros(len(keys), dtype=np.int64)
        numbers[found.key_index] = column_array(found.entries, "__number").to_numpy()
        return numbers

    def exists(self) -> tuple[Bools, Bools]:
        return self.before > 0, self.after > 0
