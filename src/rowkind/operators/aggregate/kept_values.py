"""Values that an aggregate must keep: one slot for each argument and filter, shared by the calls that need it.

Rows of a slot travel beside the group rows through the same exchange: the part number, the value, and how many of it
are added (negative: taken back). Where the order of values matters each added value is a row of its own, with its place
in the input.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from rowkind.aggregate_functions import Keeps
from rowkind.operators.aggregate.accumulators import ints, valid
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.changes import Bools, Groups, Ints, column_array, group, shortfall
from rowkind.state.hashing import KeyHashes, extend

PART, NUMBER, PLACE = "__part", "__n", "__order"
MAX_BATCH = 1 << 32


@dataclass(frozen=True, slots=True)
class Slot:
    """`number` is 1 and up: part 0 is the group rows."""

    number: int
    keeps: Keeps
    argument: str
    filter: str | None
    nulls: bool
    type: pa.DataType
    calls: tuple[int, ...]
    """Positions of the calls that read it."""
    doubtful: bool = False
    """Whether values may be taken back that were never there: then the order of all changes counts."""
    refreshed: bool = False
    """Whether a value lives on by being seen, so that one which goes and comes again is told, too."""

    @property
    def column(self) -> str:
        return f"__v{self.number}"

    @property
    def ordered(self) -> bool:
        return self.keeps in (Keeps.ENDING, Keeps.LIST)

    @property
    def placed(self) -> bool:
        """Whether rows have their place in the input."""
        return self.ordered or self.doubtful


def slots_of(
    calls: tuple[AggregateCall, ...],
    input: pa.Schema,
    append_only: bool,
    doubtful: bool = False,
    refreshed: bool = False,
) -> tuple[Slot, ...]:
    """The slots of a query, one a distinct (purpose, argument, filter).

    As in Flink, numbers of distinct values may go below zero for a while, so that their order does not count.
    """
    wanted: dict[tuple[Keeps, str, str | None, bool], list[int]] = {}
    for at, call in enumerate(calls):
        keeps = call.entry.kept(call.distinct, append_only)
        if keeps is not None and call.argument is not None:
            wanted.setdefault((keeps, call.argument, call.filter, call.entry.counts_nulls), []).append(at)
    return tuple(
        Slot(
            number,
            keeps,
            argument,
            filter,
            nulls,
            input.field(argument).type,
            tuple(positions),
            doubtful and keeps is not Keeps.DISTINCT,
            refreshed,
        )
        for number, ((keeps, argument, filter, nulls), positions) in enumerate(wanted.items(), start=1)
    )


@dataclass(frozen=True, slots=True)
class SlotRows:
    """Rows of one slot: `row` is the row of the delta that each came from."""

    row: Ints
    values: pa.Array
    number: Ints
    place: Ints


def slot_rows(slot: Slot, delta: pa.Table, weights: Ints, hashes: KeyHashes, order: Ints) -> SlotRows:
    """What a delta does to a slot, per group and value: net numbers, or single additions where the order matters."""
    values = column_array(delta, slot.argument)
    chosen = weights != 0
    if slot.filter is not None:
        chosen &= truth(column_array(delta, slot.filter))
    if not slot.nulls:
        chosen &= valid(values, len(values))
    rows = np.flatnonzero(chosen)
    taken = values.take(pa.array(rows)) if len(rows) < len(values) else values
    pairs = group(extend(hashes.take(rows), [taken]))
    weights = weights[rows]
    if slot.doubtful:
        return SlotRows(rows, taken, weights, order[rows])
    if not slot.ordered:
        net = pairs.sum(weights)
        keep = np.arange(len(net)) if slot.refreshed else np.flatnonzero(net)
        first = pairs.first[keep]
        return SlotRows(rows[first], taken.take(pa.array(first)), net[keep], np.zeros(len(keep), dtype=np.int64))
    added = np.flatnonzero(weights > 0)
    removed = pairs.sum(np.minimum(weights, 0))
    back = np.flatnonzero(removed)
    at = np.concatenate([added, pairs.first[back]])
    number = np.concatenate([np.ones(len(added), dtype=np.int64), removed[back]])
    return SlotRows(rows[at], taken.take(pa.array(at)), number, order[rows[at]])


def truth(column: pa.Array) -> Bools:
    return np.asarray(column.fill_null(False).to_numpy(zero_copy_only=False))


@dataclass(frozen=True, slots=True)
class Arrived:
    """The exchanged rows of one slot, by group and value. `pairs` numbers the (group, value) pairs."""

    values: pa.Array
    number: Ints
    place: Ints
    group: Ints
    pairs: Groups

    @property
    def pair_values(self) -> pa.Array:
        return self.values.take(pa.array(self.pairs.first))

    @property
    def pair_group(self) -> Ints:
        return self.group[self.pairs.first]

    def missing(self, slot: Slot, held: Ints) -> Ints:
        """How many of each pair's retractions have nothing to take back, if it has so many values at first."""
        if slot.doubtful:
            return shortfall(self.pairs.index, self.place, self.number, held)
        return np.asarray(np.maximum(-held - self.pairs.sum(self.number), 0))


def arrived(slot: Slot, delta: pa.Table, groups: Groups) -> Arrived:
    rows = np.flatnonzero(ints(column_array(delta, PART)) == slot.number)
    taken = pa.array(rows)
    values = column_array(delta, slot.column).take(taken)
    index = groups.index[rows]
    pairs = group(extend(groups.hashes.take(index), [values]))
    number = ints(column_array(delta, NUMBER))[rows]
    place = ints(column_array(delta, PLACE))[rows] if slot.placed else np.zeros(len(rows), dtype=np.int64)
    return Arrived(values, number, place, index, pairs)
