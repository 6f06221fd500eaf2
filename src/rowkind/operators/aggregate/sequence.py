"""Values in input order: FIRST_VALUE and LAST_VALUE under retraction, LISTAGG, ARRAY_AGG, COLLECT.

A value that is taken back is the oldest equal one, as in Flink. So the equal values of a group are a queue, and a batch
takes from its head.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rowkind.operators.aggregate.accumulators import ints
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.kept_values import MAX_BATCH, Arrived, Slot
from rowkind.operators.aggregate.lists import Owned, list_of
from rowkind.operators.changes import Bools, Groups, Ints
from rowkind.state.contract import State, StateTables
from rowkind.state.hashing import KeyHashes, extend

SEQUENCE = "seq"


@dataclass(frozen=True, slots=True)
class _Queue:
    """Entries of (group, value) pairs in sequence: those stored and those of the batch, `stored` first."""

    values: pa.Array
    seq: Ints
    group: Ints
    stored: Bools
    gone: Bools
    """Taken back by the batch."""
    stale: int


def keep_endings(
    slot: Slot, rows: Arrived, groups: Groups, calls: list[AggregateCall], state: StateTables, version: int, ttl_ms: int
) -> tuple[list[pa.Array], int]:
    """FIRST_VALUE and LAST_VALUE of each group after the batch, and how many retractions had no state."""
    schema = pa.schema([(SEQUENCE, pa.int64()), ("v", slot.type)])
    by_value = state.table(
        f"queue{slot.number}", pa.schema([schema.field(SEQUENCE)]), ("group", "value"), (SEQUENCE,), ttl_ms
    )
    by_group = state.table(f"sequence{slot.number}", schema, ("group",), (SEQUENCE,), ttl_ms)
    found = by_value.first(rows.pairs.hashes, _taken_back(rows))
    old = _Old(ints(found.entries.column(SEQUENCE).combine_chunks()), found.key_index)
    queue = _merge(slot, rows, old, version)
    _write(by_value, by_group, queue, groups)

    gone = np.zeros(len(groups), dtype=np.int64)
    np.add.at(gone, queue.group[queue.stored & queue.gone], 1)
    fresh = ~queue.stored & ~queue.gone
    results = []
    for call in calls:
        last = call.entry.last
        read = by_group.first(groups.hashes, gone + 1, last=last)
        stored_seq = ints(read.entries.column(SEQUENCE).combine_chunks())
        alive = ~np.isin(stored_seq, queue.seq[queue.gone])
        seq = np.concatenate([stored_seq[alive], queue.seq[fresh]])
        owner = np.concatenate([read.key_index[alive], queue.group[fresh]])
        stored_values = read.entries.column("v").combine_chunks().filter(pa.array(alive))
        values = pa.concat_arrays([stored_values, queue.values.filter(pa.array(fresh))])
        results.append(_end(values, seq, owner, len(groups), last))
    return results, queue.stale


def _end(values: pa.Array, seq: Ints, owner: Ints, size: int, last: bool) -> pa.Array:
    order = np.lexsort([-seq if last else seq, owner])
    picked = np.full(size, -1, dtype=np.int64)
    picked[owner[order[::-1]]] = order[::-1]
    return values.take(pa.array(picked, mask=picked < 0))


def keep_lists(
    slot: Slot, rows: Arrived, groups: Groups, calls: list[AggregateCall], state: StateTables, version: int, ttl_ms: int
) -> tuple[Ints, list[pa.Array], int]:
    """The groups whose list changed, their new results by call, and how many retractions had no state.

    Reads the whole lists of those groups: the results are as long.
    """
    schema = pa.schema([(SEQUENCE, pa.int64()), ("v", slot.type)])
    by_group = state.table(f"sequence{slot.number}", schema, ("group",), (SEQUENCE,), ttl_ms)
    touched = np.unique(rows.group)
    found = by_group.lookup(groups.hashes.take(touched))
    owner = touched[found.key_index]
    values = found.entries.column("v").combine_chunks()
    seq = ints(found.entries.column(SEQUENCE).combine_chunks())
    # stored values that the batch does not name keep a pair of their own
    number = _pair_numbers(rows, groups, values, owner)
    named = number >= 0
    queue = _merge(slot, rows, _Old(seq[named], number[named]), version)
    gone = np.zeros(len(seq), dtype=bool)
    gone[np.flatnonzero(named)[np.argsort(number[named], kind="stable")]] = queue.gone[queue.stored]
    fresh = ~queue.stored & ~queue.gone
    by_group.write(
        pa.table({SEQUENCE: queue.seq[fresh], "v": queue.values.filter(pa.array(fresh))}, schema),
        pa.table({SEQUENCE: seq[gone], "v": values.filter(pa.array(gone))}, schema),
        upsert_keys=groups.hashes.take(queue.group[fresh]),
        delete_keys=groups.hashes.take(owner[gone]),
    )
    all_values = pa.concat_arrays([values.filter(pa.array(~gone)), queue.values.filter(pa.array(fresh))])
    all_seq = np.concatenate([seq[~gone], queue.seq[fresh]])
    all_owner = np.concatenate([owner[~gone], queue.group[fresh]])
    order = np.lexsort([all_seq, all_owner])
    lists = all_values.take(pa.array(order))
    position = np.searchsorted(touched, all_owner[order])
    return touched, [list_of(call)(call, Owned(lists, position, len(touched))) for call in calls], queue.stale


@dataclass(frozen=True, slots=True)
class _Old:
    """Stored entries of the batch's pairs: sequence and pair number, in sequence within a pair."""

    seq: Ints
    pair: Ints


def _taken_back(rows: Arrived) -> Ints:
    return -rows.pairs.sum(np.minimum(rows.number, 0))


def _merge(slot: Slot, rows: Arrived, old: _Old, version: int) -> _Queue:
    """The queues of the batch's pairs, heads marked as gone. Stored entries come first, ordered by pair."""
    missing = rows.missing(slot, np.bincount(old.pair, minlength=len(rows.pairs)))
    back = _taken_back(rows) - missing
    added = np.flatnonzero(rows.number > 0)
    added = added[np.argsort(rows.place[added], kind="stable")]
    if len(added) >= MAX_BATCH:
        raise OverflowError("more than 2**32 values of one aggregate in one batch and partition")
    new_seq = (version << 32) + np.arange(len(added), dtype=np.int64)
    by_pair = np.argsort(old.pair, kind="stable")
    pair = np.concatenate([old.pair[by_pair], rows.pairs.index[added]])
    seq = np.concatenate([old.seq[by_pair], new_seq])
    order = np.lexsort([seq, pair])
    in_order = pair[order]
    begin = np.searchsorted(in_order, in_order, side="left")
    gone = np.zeros(len(order), dtype=bool)
    gone[order] = np.arange(len(order)) - begin < back[in_order]
    stored = np.arange(len(order)) < len(old.seq)
    values = rows.pair_values.take(pa.array(pair))
    return _Queue(values, seq, rows.pair_group[pair], stored, gone, int(missing.sum()))


def _write(by_value: State, by_group: State, queue: _Queue, groups: Groups) -> None:
    fresh, gone = ~queue.stored & ~queue.gone, queue.stored & queue.gone
    owners = groups.hashes.take(queue.group)
    table = pa.table({SEQUENCE: queue.seq, "v": queue.values})
    for state, keys in ((by_value, extend(owners, [queue.values])), (by_group, owners)):
        state.write(
            table.filter(pa.array(fresh)),
            table.filter(pa.array(gone)),
            upsert_keys=keys.take(fresh),
            delete_keys=keys.take(gone),
        )


def _pair_numbers(rows: Arrived, groups: Groups, values: pa.Array, owner: Ints) -> Ints:
    """For stored values and their groups, the number of the batch's pair, or -1."""
    stored: KeyHashes = extend(groups.hashes.take(owner), [values])
    known = rows.pairs.hashes
    if not len(known):
        return np.full(len(owner), -1, dtype=np.int64)
    at = np.searchsorted(known.h1, stored.h1)
    at[at == len(known)] = 0
    same = (known.h1[at] == stored.h1) & (known.h2[at] == stored.h2)
    return np.where(same, at, -1)
