"""The rows of many events of one table at once: places found in lock step over the events, then column by column."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from rowkind.connectors.mysql.arrays import Bools, Ints, View
from rowkind.connectors.mysql.reading_counts import Counts
from rowkind.connectors.mysql.row_columns import row_column
from rowkind.connectors.mysql.table_maps import WireColumn
from rowkind.connectors.mysql.types import ColumnType, arrow_schema


def decode_images(
    view: View, starts: Ints, ends: Ints, wire: Sequence[WireColumn], columns: Sequence[ColumnType], counts: Counts
) -> tuple[pa.RecordBatch, Ints]:
    """All row images of events whose images lie from `starts` to `ends`, and how many each event has."""
    at, images = image_starts(view, starts, ends, wire)
    nulls = [view.bytes.take(at + place) for place in range((len(wire) + 7) // 8)]
    at = at + len(nulls)
    arrays = []
    for place, (each, column) in enumerate(zip(wire, columns, strict=True)):
        missing: Bools | None = (nulls[place >> 3] & (1 << (place & 7))) != 0
        if missing is not None and not missing.any():
            missing = None
        value, length = _extent(view, at, each)
        if missing is not None:
            length = np.where(missing, 0, length)
            value = np.where(missing, at, value)
        arrays.append(row_column(column, each, view, value, length, missing, counts))
        at = value + length
    return pa.RecordBatch.from_arrays(arrays, schema=arrow_schema(columns)), images


def image_starts(view: View, starts: Ints, ends: Ints, wire: Sequence[WireColumn]) -> tuple[Ints, Ints]:
    """Where each image begins, event by event; one step of the loop goes over one image of every event."""
    steps: list[Ints] = []
    events: list[Ints] = []
    at, event = starts, np.arange(len(starts), dtype=np.int64)
    while len(at):
        steps.append(at)
        events.append(event)
        after = _after(view, at, wire)
        more = after < ends[event]
        at, event = (after, event) if more.all() else (after[more], event[more])
    images = np.zeros(len(starts), np.int64)
    for event in events:
        images[event] += 1
    if len(steps) == 1:
        return steps[0], images
    first = np.cumsum(images) - images
    ordered = np.empty(int(images.sum()), np.int64)
    for step, (at, event) in enumerate(zip(steps, events, strict=True)):
        ordered[first[event] + step] = at
    return ordered, images


def _after(view: View, at: Ints, wire: Sequence[WireColumn]) -> Ints:
    """Where images that begin here end."""
    size = (len(wire) + 7) // 8
    nulls = [view.bytes.take(at + place) for place in range(size)]
    used = [0xFF] * (size - 1) + [(1 << ((len(wire) - 1) % 8 + 1)) - 1]
    at = at + size
    if not any((bits & mask).any() for bits, mask in zip(nulls, used, strict=True)):
        return _after_full(view, at, wire)
    for place, each in enumerate(wire):
        present = ((nulls[place >> 3] >> (place & 7)) & 1) == 0
        value, length = _extent(view, at, each)
        at = np.where(present, value + length, at)
    return at


def _after_full(view: View, at: Ints, wire: Sequence[WireColumn]) -> Ints:
    """The same where nothing is NULL: columns of fixed width are one step together."""
    fixed = 0
    for each in wire:
        if each.fixed:
            fixed += each.width
            continue
        at = at + fixed if fixed else at
        at = at + each.width + view.little(at, each.width)
        fixed = 0
    return at + fixed if fixed else at


def _extent(view: View, at: Ints, each: WireColumn) -> tuple[Ints, Ints]:
    if each.fixed:
        return at, np.full(len(at), each.width, np.int64)
    return at + each.width, view.little(at, each.width)
