"""Aggregate calls over frames of rows."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.operators.aggregate.accumulators import Accumulator, Rows, at_places, each, valid
from rowkind.operators.aggregate.aggregate_call import AggregateCall
from rowkind.operators.aggregate.frames import Frames
from rowkind.operators.aggregate.kept_values import truth
from rowkind.operators.aggregate.lists import Owned, list_of
from rowkind.operators.changes import Bools, Groups, Ints, column_array, group
from rowkind.state.hashing import hash_columns


def frame_result(call: AggregateCall, accumulator: Accumulator | None, rows: pa.Table, frames: Frames) -> pa.Array:
    """The call over each frame; without an accumulator it is one that makes lists. Rows are in order."""
    if accumulator is None:
        return _lists(call, rows, frames)
    if call.by_values:
        columns = _distinct(call, accumulator, rows, frames)
    else:
        columns = accumulator.framed(argument(call, rows), counted(call, rows).astype(np.int64), frames)
    return accumulator.result(accumulator.settle(columns))


def argument(call: AggregateCall, rows: pa.Table) -> pa.Array | None:
    return None if call.argument is None else column_array(rows, call.argument)


def counted(call: AggregateCall, rows: pa.Table) -> Bools:
    """The rows that a call's FILTER lets through."""
    if call.filter is None:
        return np.ones(rows.num_rows, dtype=bool)
    return truth(column_array(rows, call.filter))


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
    if not call.entry.counts_nulls:
        chosen &= valid(values, len(values))
    made, parts = list_of(call), [pa.nulls(0, call.type)]
    for some, frame, position in frames.members():
        keep = chosen[position]
        parts.append(made(call, Owned(values.take(pa.array(position[keep])), frame[keep], len(some))))
    return pa.concat_arrays(parts)


def neighbour(call: AggregateCall, rows: pa.Table, at: Ints, low: Ints, high: Ints) -> pa.Array:
    """LAG and LEAD: the value `offset` rows before each position, if that is in [low, high]."""
    values = argument(call, rows)
    found = at - call.offset
    there = (found >= low) & (found <= high)
    result = at_places(values, np.where(there, found, -1))
    if call.default is not None:
        result = pc.if_else(pa.array(there), result, column_array(rows, call.default).take(pa.array(at)))
    return result.cast(call.type)
