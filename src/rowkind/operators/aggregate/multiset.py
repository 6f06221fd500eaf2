"""How often each value is in each group: DISTINCT, and MIN and MAX under retraction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rowkind.operators.aggregate.extremes import pick_first
from rowkind.operators.aggregate.kept_values import Arrived, Slot
from rowkind.operators.changes import Bools, Groups, Ints, group
from rowkind.state.contract import StateTables
from rowkind.state.hashing import KeyHashes, concat_hashes, equal_rows, hash_columns

_COUNTS = pa.schema([("n", pa.int64())])
_MEMBERS = pa.schema([])


@dataclass(frozen=True, slots=True)
class Transitions:
    """Pairs (by number) whose value came into its group (+1), left it (-1), or neither (0); and which are there now."""

    sign: Ints
    there: Bools
    stale: int


def count_values(slot: Slot, rows: Arrived, state: StateTables, append_only: bool, ttl_ms: int) -> Transitions:
    """Bring the multiplicities up to date. Input that takes nothing back needs no numbers, only who was there."""
    pairs = rows.pairs
    if append_only:
        members = state.table(f"members{slot.number}", _MEMBERS, ("group", "value"), ttl_ms=ttl_ms)
        new = np.ones(len(pairs), dtype=bool)
        new[members.lookup(pairs.hashes).key_index] = False
        # with a TTL a value that was seen again lives on
        members.write(_MEMBERS.empty_table(), upsert_keys=pairs.hashes if ttl_ms else pairs.hashes.take(new))
        return Transitions(new.astype(np.int64), np.ones(len(pairs), dtype=bool), 0)
    counts = state.table(f"counts{slot.number}", _COUNTS, ("group", "value"), ttl_ms=ttl_ms)
    found = counts.lookup(pairs.hashes)
    old = np.zeros(len(pairs), dtype=np.int64)
    old[found.key_index] = found.entries.column("n").to_numpy()
    missing = rows.missing(slot, old)
    new_counts = old + pairs.sum(rows.number) + missing
    put, drop = (new_counts > 0) & ((new_counts != old) | bool(ttl_ms)), (old > 0) & (new_counts == 0)
    counts.write(
        pa.table({"n": new_counts[put]}),
        pa.table({"n": old[drop]}),
        upsert_keys=pairs.hashes.take(put),
        delete_keys=pairs.hashes.take(drop),
    )
    sign = (new_counts > 0).astype(np.int64) - (old > 0)
    return Transitions(sign, new_counts > 0, int(missing.sum()))


@dataclass(frozen=True, slots=True)
class Extremes:
    """The new MIN or MAX of each group, by call, and retractions that had no state."""

    values: list[pa.Array]
    stale: int


def keep_extremes(
    slot: Slot, rows: Arrived, groups: Groups, cached: list[tuple[bool, pa.Array]], state: StateTables, ttl_ms: int
) -> Extremes:
    """The extremes after the batch. `cached` gives, for each call, whether it is MAX, and the value before.

    Only where the value itself left is the next one looked up, in a table sorted by value.
    """
    moves = count_values(slot, rows, state, False, ttl_ms)
    values, owner = rows.pair_values, rows.pair_group
    came, left = moves.sign > 0, moves.sign < 0
    schema = pa.schema([("v", slot.type)])
    ordered = state.table(f"values{slot.number}", schema, ("group",), ("v",), ttl_ms)
    result = []
    for largest, before in cached:
        lost = _lost(values, owner, left, before, len(groups))
        kept = before.take(pa.array(np.arange(len(before)), mask=lost))
        candidates = [kept, values.filter(pa.array(came))]
        places = [np.arange(len(groups)), owner[came]]
        again = np.flatnonzero(lost)
        if len(again):
            gone = np.zeros(len(groups), dtype=np.int64)
            np.add.at(gone, owner[left], 1)
            found = ordered.first(groups.hashes.take(again), gone[again] + 1, last=largest)
            survivors = found.entries.column("v").combine_chunks()
            index = again[found.key_index]
            alive = _not_among(survivors, index, values.filter(pa.array(left)), owner[left])
            candidates.append(survivors.filter(pa.array(alive)))
            places.append(index[alive])
        pool = pa.concat_arrays(candidates)
        members = Groups(np.concatenate(places), groups.first, groups.hashes)
        chosen = np.asarray(pool.is_valid().to_numpy(zero_copy_only=False))
        result.append(pick_first(pool, chosen, members, largest))
    put = moves.there if ttl_ms else came  # with a TTL a value that was seen again lives on
    ordered.write(
        pa.table({"v": values.filter(pa.array(put))}, schema),
        pa.table({"v": values.filter(pa.array(left))}, schema),
        upsert_keys=groups.hashes.take(owner[put]),
        delete_keys=groups.hashes.take(owner[left]),
    )
    return Extremes(result, moves.stale)


def _lost(values: pa.Array, owner: Ints, left: Bools, before: pa.Array, size: int) -> Bools:
    """The groups whose extreme is among the values that left."""
    went = np.flatnonzero(left)
    same = equal_rows(
        pa.table({"v": values.take(pa.array(went))}), pa.table({"v": before.take(pa.array(owner[went]))}), ["v"]
    )
    lost = np.zeros(size, dtype=bool)
    lost[owner[went[same]]] = True
    return lost


def _not_among(values: pa.Array, owner: Ints, gone: pa.Array, gone_owner: Ints) -> Bools:
    there = group(concat_hashes(_identity(gone, gone_owner), _identity(values, owner)))
    taken = np.zeros(len(there), dtype=bool)
    taken[there.index[: len(gone)]] = True
    return ~taken[there.index[len(gone) :]]


def _identity(values: pa.Array, owner: Ints) -> KeyHashes:
    return hash_columns([pa.array(owner), values], len(owner))
