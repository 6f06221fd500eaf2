"""Aggregate calls over frames of rows."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.operators.aggregate.accumulators import Accumulator, Ending, Extreme, Rows, floats, ints, overflow, valid
from rowkind.operators.aggregate.aggregate_call import INVERTIBLE, AggregateCall
from rowkind.operators.aggregate.frames import Columns, Frames
from rowkind.operators.aggregate.int128 import WIDE, from_limbs, limbs
from rowkind.operators.aggregate.kept_values import truth
from rowkind.operators.aggregate.moments import Moments
from rowkind.operators.aggregate.sequence import list_result
from rowkind.operators.changes import Bools, Groups, Ints, column_array, group
from rowkind.state.contract import Order
from rowkind.state.hashing import KeyHashes, hash_columns
from rowkind.state.ordering import order_codes


def frame_result(call: AggregateCall, accumulator: Accumulator | None, rows: pa.Table, frames: Frames) -> pa.Array:
    """The call over each frame; without an accumulator it is one that makes lists. Rows are in order."""
    if accumulator is None:
        return _lists(call, rows, frames)
    if by_values(call):
        columns = _distinct(call, accumulator, rows, frames)
    else:
        columns = accumulated(accumulator, call, argument(call, rows), counted(call, rows).astype(np.int64), frames)
    return accumulator.result(accumulator.settle(columns))


def by_values(call: AggregateCall) -> bool:
    """Whether equal values count once."""
    return call.distinct and call.function in INVERTIBLE


def argument(call: AggregateCall, rows: pa.Table) -> pa.Array | None:
    return None if call.argument is None else column_array(rows, call.argument)


def counted(call: AggregateCall, rows: pa.Table) -> Bools:
    """The rows that a call's FILTER lets through."""
    if call.filter is None:
        return np.ones(rows.num_rows, dtype=bool)
    return truth(column_array(rows, call.filter))


def each(size: int) -> Groups:
    """Every row a group of its own."""
    none = np.zeros(0, dtype=np.uint64)
    return Groups(np.arange(size), np.arange(size), KeyHashes(none, none))


@singledispatch
def accumulated(
    accumulator: Accumulator,
    call: AggregateCall,
    values: pa.Array | None,
    weights: Ints,
    frames: Frames,
    since: int = 0,
) -> list[pa.Array]:
    """The accumulator's columns of each frame: by default those of single rows, summed. `since` is the place of the
    first row in the whole input."""
    alone = accumulator.partial(Rows(values, weights, each(len(weights)), np.arange(len(weights))))
    return [_summed(column, call, frames) for column in alone]


def _summed(column: pa.Array, call: AggregateCall, frames: Frames) -> pa.Array:
    if pa.types.is_floating(column.type):
        return pa.array(frames.sum_floats(floats(column)))
    if column.type != WIDE:
        return pa.array(frames.sum(ints(column)))
    total = from_limbs([frames.sum(digit) for digit in limbs(column)])
    if total.overflow.any():
        raise overflow(call)
    return total.arrow()


@accumulated.register
def _(
    accumulator: Extreme, call: AggregateCall, values: pa.Array, weights: Ints, frames: Frames, since: int = 0
) -> list[pa.Array]:
    chosen = np.flatnonzero((weights > 0) & valid(values, len(weights)))
    codes = order_codes(pa.table({"v": values.take(pa.array(chosen))}), [Order("v", call.function == "MAX")])[0]
    distinct, first, rank = np.unique(codes, return_index=True, return_inverse=True)
    ranks = np.full(len(weights), len(distinct))
    ranks[chosen] = rank
    return [_taken(values, np.append(chosen[first], -1)[frames.least(ranks)])]


@accumulated.register
def _(
    accumulator: Ending, call: AggregateCall, values: pa.Array, weights: Ints, frames: Frames, since: int = 0
) -> list[pa.Array]:
    chosen, places = (weights > 0) & valid(values, len(weights)), np.arange(len(weights))
    if call.function == "LAST_VALUE":
        found = np.maximum.accumulate(np.where(chosen, places, -1))[frames.last]
    else:
        found = np.minimum.accumulate(np.where(chosen, places, len(places))[::-1])[::-1][frames.first]
    at = np.where((found >= frames.first) & (found <= frames.last), found, -1)
    return [_taken(values, at), pa.array(since + at, mask=at < 0)]


@accumulated.register
def _(
    accumulator: Moments, call: AggregateCall, values: pa.Array, weights: Ints, frames: Frames, since: int = 0
) -> list[pa.Array]:
    number = (weights * valid(values, len(weights))).astype(np.float64)
    mean = np.where(number > 0, floats(values), 0.0)
    count, centre, squares = frames.fold([number, mean, np.zeros(len(mean))], _moments, [0.0, 0.0, 0.0])
    zero = np.zeros(len(frames))
    return [pa.array(column) for column in (count.astype(np.int64), centre, squares, zero.astype(np.int64), zero, zero)]


def _moments(a: Columns, b: Columns) -> Columns:
    """Number, mean and squared deviations of two parts together."""
    total = a[0] + b[0]
    some = np.maximum(total, 1.0)
    apart = b[1] - a[1]
    return [total, a[1] + apart * b[0] / some, a[2] + b[2] + apart**2 * a[0] * b[0] / some]


def _distinct(call: AggregateCall, accumulator: Accumulator, rows: pa.Table, frames: Frames) -> list[pa.Array]:
    values = argument(call, rows)
    assert values is not None
    chosen = counted(call, rows) & valid(values, len(values))
    parts: list[list[pa.Array]] = []
    for some, frame, position in frames.members():
        keep = chosen[position]
        frame, position = frame[keep], position[keep]
        found = values.take(pa.array(position))
        once = group(hash_columns([pa.array(frame), found], len(frame))).first
        of_frame = Groups(frame[once], np.arange(len(some)), each(0).hashes)
        weights = np.ones(len(once), dtype=np.int64)
        parts.append(accumulator.partial(Rows(found.take(pa.array(once)), weights, of_frame, once)))
    if not parts:
        return [pa.nulls(0, type) for type in accumulator.types]
    return [pa.concat_arrays(columns) for columns in zip(*parts, strict=True)]


def _lists(call: AggregateCall, rows: pa.Table, frames: Frames) -> pa.Array:
    values = argument(call, rows)
    assert values is not None
    chosen = counted(call, rows)
    if call.function != "ARRAY_AGG":
        chosen &= valid(values, len(values))
    parts = [pa.nulls(0, call.type)]
    for some, frame, position in frames.members():
        keep = chosen[position]
        parts.append(list_result(call, values.take(pa.array(position[keep])), frame[keep], len(some)))
    return pa.concat_arrays(parts)


def neighbour(call: AggregateCall, rows: pa.Table, at: Ints, low: Ints, high: Ints) -> pa.Array:
    """LAG and LEAD: the value `offset` rows before each position, if that is in [low, high]."""
    values = argument(call, rows)
    found = at - call.offset
    there = (found >= low) & (found <= high)
    result = _taken(values, np.where(there, found, -1))
    if call.default is not None:
        result = pc.if_else(pa.array(there), result, column_array(rows, call.default).take(pa.array(at)))
    return result.cast(call.type)


def _taken(values: pa.Array, at: Ints) -> pa.Array:
    """Values by position, NULL where it is -1."""
    return values.take(pa.array(at, mask=at < 0))
