"""Frames that begin with the first row of all: what was accumulated so far is carried from batch to batch."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from rowkind.aggregate_functions import Keeps
from rowkind.operators.aggregate.accumulators import Accumulator, each
from rowkind.operators.aggregate.frames import Frames
from rowkind.operators.aggregate.group_aggregate import Aggregate
from rowkind.operators.aggregate.kept_values import Arrived, Slot, truth
from rowkind.operators.aggregate.multiset import count_values
from rowkind.operators.changes import Groups, Ints, column_array, group, scatter
from rowkind.operators.over.frame_results import argument, counted
from rowkind.state.contract import StateTables
from rowkind.state.hashing import extend


def run_on(
    made: Aggregate, rows: pa.Table, owner: Ints, last: Ints, groups: Groups, state: StateTables, version: int
) -> dict[str, pa.Array]:
    """The results of the calls that have accumulators, a frame a row: from the first row of all to position `last`.

    Rows are in order of their owner, then of time; `owner` is the number of their group.
    """
    carry = _Carry(made, owner, groups, state)
    begins = np.searchsorted(owner, owner)
    frames = Frames(begins, last)
    fresh = {at: weights for slot in made.slots for at, weights in _first_seen(made, slot, rows, owner, groups, state)}
    results = {}
    for at, accumulator in made.accumulators.items():
        call = made.calls[at]
        weights = fresh[at] if at in fresh else counted(call, rows).astype(np.int64)
        columns = accumulator.framed(argument(call, rows), weights, frames, version << 32)
        results[call.name] = carry.joined(at, accumulator, columns)
    carry.write()
    return results


class _Carry:
    """The accumulators of the groups before the batch, and after its last row."""

    def __init__(self, made: Aggregate, owner: Ints, groups: Groups, state: StateTables) -> None:
        names = {
            name: type
            for at, a in made.accumulators.items()
            for name, type in zip(made.columns[at], a.types, strict=True)
        }
        self._made, self._owner, self._groups = made, owner, groups
        self._schema = pa.schema(list(names.items()))
        self._table = state.table("running", self._schema, ("partition",), ttl_ms=made.ttl_ms)
        found = self._table.lookup(groups.hashes)
        self._old = scatter(found.entries, found.key_index, len(groups))
        self._new: dict[str, pa.Array] = {}

    def joined(self, at: int, accumulator: Accumulator, columns: list[pa.Array]) -> pa.Array:
        size = len(self._owner)
        owner, names = pa.array(self._owner), self._made.columns[at]
        before = [column_array(self._old, name).take(owner) for name in names]
        twice = Groups(np.tile(np.arange(size), 2), np.arange(size), each(0).hashes)
        together = accumulator.merge([pa.concat_arrays(pair) for pair in zip(before, columns, strict=True)], twice)
        settled = accumulator.settle(together)
        self._new |= zip(names, settled, strict=True)
        return accumulator.result(settled)

    def write(self) -> None:
        lasts = np.flatnonzero(np.append(self._owner[1:] != self._owner[:-1], len(self._owner) > 0))
        stored = pa.table(self._new, self._schema).take(pa.array(lasts))
        self._table.write(stored, upsert_keys=self._groups.hashes.take(self._owner[lasts]))


def _first_seen(
    made: Aggregate, slot: Slot, rows: pa.Table, owner: Ints, groups: Groups, state: StateTables
) -> list[tuple[int, Ints]]:
    """For the DISTINCT calls of a slot: 1 for rows whose value is new in its group, 0 for others."""
    if slot.keeps is not Keeps.DISTINCT:
        return []
    values = column_array(rows, slot.argument)
    chosen = values.is_valid().to_numpy(zero_copy_only=False)
    if slot.filter is not None:
        chosen = chosen & truth(column_array(rows, slot.filter))
    at = np.flatnonzero(chosen)
    taken = values.take(pa.array(at))
    pairs = group(extend(groups.hashes.take(owner[at]), [taken]))
    none = np.zeros(len(at), dtype=np.int64)
    moves = count_values(slot, Arrived(taken, none + 1, none, owner[at], pairs), state, True, made.ttl_ms)
    first = np.full(len(pairs), len(at))
    np.minimum.at(first, pairs.index, np.arange(len(at)))
    weights = np.zeros(len(owner), dtype=np.int64)
    weights[at[first[moves.sign > 0]]] = 1
    return [(call, weights) for call in slot.calls]
