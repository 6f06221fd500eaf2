"""Arrow columns as plain Python values without loss: dates and times stay numbers, whatever their year."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from rowkind.types import DataType, Root, map_members

_TICKS = {
    Root.DATE: (pa.date32(), pa.int32()),
    Root.TIME: (pa.time64("ns"), pa.int64()),
    Root.TIMESTAMP: (pa.timestamp("us"), pa.int64()),
    Root.TIMESTAMP_LTZ: (pa.timestamp("us", "UTC"), pa.int64()),
    Root.INTERVAL_DAY_TIME: (pa.duration("us"), pa.int64()),
}


def ticks(column: pa.Array, type: DataType) -> list[Any]:
    """The column's values: days, nanoseconds of the day, microseconds; a ROW is a tuple, a MAP a list of pairs."""
    match type.root:
        case Root.DATE | Root.TIME | Root.TIMESTAMP | Root.TIMESTAMP_LTZ | Root.INTERVAL_DAY_TIME:
            unit, number = _TICKS[type.root]
            return list(column.cast(unit).cast(number).to_pylist())
        case Root.ARRAY:
            assert type.element
            return _split(column, ticks(column.flatten(), type.element))
        case Root.MAP | Root.MULTISET:
            key, value = map_members(type)
            entries = entry_lists(column).flatten()
            pairs = zip(ticks(entries.field(0), key), ticks(entries.field(1), value), strict=True)
            return _split(column, list(pairs))
        case Root.ROW:
            members = [ticks(c, f.type) for c, f in zip(column.flatten(), type.fields, strict=True)]
            rows = zip(*members, strict=True) if members else iter([()] * len(column))
            return [row if valid else None for row, valid in zip(rows, column.is_valid().to_pylist(), strict=True)]
        case _:
            return list(column.to_pylist())


def entry_lists(column: pa.MapArray) -> pa.ListArray:
    """Maps as lists of their entries; Arrow's own cast loses elements of lists of NULL type inside."""
    entries = pa.StructArray.from_arrays([column.keys, column.items], ["key", "value"])
    offsets = pa.array(column.offsets.to_numpy())
    return pa.ListArray.from_arrays(offsets, entries, mask=column.is_null())


def _split(column: pa.Array, members: list[Any]) -> list[Any]:
    offsets = column.offsets.to_pylist()
    lists: list[Any] = []
    start = 0
    for index, valid in enumerate(column.is_valid().to_pylist()):
        if not valid:
            lists.append(None)
            continue
        end = start + offsets[index + 1] - offsets[index]
        lists.append(members[start:end])
        start = end
    return lists
