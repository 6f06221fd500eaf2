"""State that ends with its window: what an aggregate keeps of a group is removed when the group's window closes.

An aggregate finds values by the hash of group and value, which does not tell whose they are. So for each such table
the hashes are listed by group; the list is read once, when the group goes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.operators.changes import Bools
from rowkind.operators.join.sides import among
from rowkind.state.contract import Found, Order, State, StateTables
from rowkind.state.hashing import KeyHashes, concat_hashes

_PAIR = pa.schema([("p1", pa.int64()), ("p2", pa.int64())])
_NONE = KeyHashes(np.zeros(0, dtype=np.uint64), np.zeros(0, dtype=np.uint64))


@dataclass(frozen=True, slots=True)
class Owners:
    """The groups of (group, value) pairs, hash by hash."""

    pairs: KeyHashes
    groups: KeyHashes

    def of(self, pairs: KeyHashes) -> KeyHashes:
        order = np.argsort(self.pairs.h1, kind="stable")
        at = np.minimum(np.searchsorted(self.pairs.h1[order], pairs.h1), max(len(order) - 1, 0))
        return self.groups.take(order[at]) if len(order) else self.groups


@dataclass
class HeldTable:
    """A table whose write is kept back."""

    name: str
    table: State
    by_value: bool
    known: KeyHashes = _NONE
    """Keys that were found by a read."""
    upserts: pa.Table | None = None
    deletes: pa.Table | None = None
    upsert_keys: KeyHashes = _NONE
    delete_keys: KeyHashes = _NONE

    def lookup(self, keys: pa.Table | KeyHashes) -> Found:
        return self._noted(keys, self.table.lookup(keys))

    def first(self, keys: pa.Table | KeyHashes, limit: int | npt.NDArray[np.int64], *, last: bool = False) -> Found:
        return self._noted(keys, self.table.first(keys, limit, last=last))

    def _noted(self, keys: pa.Table | KeyHashes, found: Found) -> Found:
        assert isinstance(keys, KeyHashes)
        self.known = concat_hashes(self.known, keys.take(np.unique(found.key_index)))
        return found

    def write(
        self,
        upserts: pa.Table | None,
        deletes: pa.Table | None = None,
        *,
        upsert_keys: KeyHashes | None = None,
        delete_keys: KeyHashes | None = None,
    ) -> None:
        self.upserts, self.upsert_keys = upserts, upsert_keys or _NONE
        self.deletes, self.delete_keys = deletes, delete_keys or _NONE


@dataclass
class WindowState:
    """Tables for an operator inside a window. Once it is done, `write` keeps what stays and removes what closes."""

    state: StateTables
    tables: dict[str, HeldTable] = field(default_factory=dict)

    def table(
        self, name: str, schema: pa.Schema, key: Sequence[str], sort: Sequence[str | Order] = (), ttl_ms: int = 0
    ) -> HeldTable:
        if name not in self.tables:
            self.tables[name] = HeldTable(name, self.state.table(name, schema, key, sort), tuple(key) == _BY_VALUE)
        return self.tables[name]

    def write(self, closing: KeyHashes, owners: Mapping[str, Owners]) -> None:
        """`closing` are the groups that go; `owners` tells whose pairs the batch touched, by name of the table."""
        for held in self.tables.values():
            if held.by_value:
                self._write_pairs(held, closing, owners[held.name])
            else:
                _write(held, closing, among(held.upsert_keys, closing), among(held.delete_keys, closing))

    def _write_pairs(self, held: HeldTable, closing: KeyHashes, owners: Owners) -> None:
        put_owner = owners.of(held.upsert_keys)
        put_goes, drop_goes = among(put_owner, closing), among(owners.of(held.delete_keys), closing)
        listed = self.state.table(f"{held.name}-of-group", _PAIR, ("group",), ("p1", "p2"))
        found = listed.lookup(closing)
        gone = KeyHashes(*(found.entries.column(c).to_numpy().view(np.uint64) for c in _PAIR.names))
        _write(held, gone, put_goes, drop_goes)
        fresh = ~put_goes & ~among(held.upsert_keys, held.known)
        pairs, first = _distinct(held.upsert_keys.take(fresh))
        entries = pa.table({"p1": pairs.h1.view(np.int64), "p2": pairs.h2.view(np.int64)}, _PAIR)
        keys = put_owner.take(fresh).take(first)
        listed.write(entries, found.entries, upsert_keys=keys, delete_keys=closing.take(found.key_index))


_BY_VALUE = ("group", "value")


def _write(held: HeldTable, gone: KeyHashes, put_goes: Bools, drop_goes: Bools) -> None:
    """What the operator wrote, without what is of a closing group, and the removal of all that such a group had."""
    stored = held.table.lookup(gone)
    deletes = [part for part in (_kept(held.deletes, ~drop_goes), stored.entries) if part is not None]
    names = stored.entries.column_names
    removed = pa.concat_tables([part.select(names) for part in deletes]) if names else stored.entries
    held.table.write(
        _kept(held.upserts, ~put_goes),
        removed,
        upsert_keys=held.upsert_keys.take(~put_goes),
        delete_keys=concat_hashes(held.delete_keys.take(~drop_goes), gone.take(stored.key_index)),
    )


def _kept(table: pa.Table | None, rows: Bools) -> pa.Table | None:
    return table.filter(pa.array(rows)) if table is not None and table.num_columns else table


def _distinct(hashes: KeyHashes) -> tuple[KeyHashes, npt.NDArray[np.int64]]:
    packed = np.stack([hashes.h1, hashes.h2], axis=1)
    first = np.unique(packed, axis=0, return_index=True)[1]
    return hashes.take(first), first
