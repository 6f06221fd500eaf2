"""One column of a SELECT's rows, text as the server writes it, as an Arrow array."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute

from rowkind.connectors.mysql.arrays import Bools, Ints, View, booleans, days, each, either, impossible, numbers
from rowkind.connectors.mysql.charsets import utf8_texts
from rowkind.connectors.mysql.geometry import geometry_text
from rowkind.connectors.mysql.types import ColumnType, Kind

if TYPE_CHECKING:
    from rowkind.connectors.mysql.reading_counts import Counts


def text_column(
    column: ColumnType, view: View, at: Ints, length: Ints, nulls: Bools | None, counts: Counts
) -> pa.Array:
    """The values at these places of the buffer."""
    match column.kind:
        case Kind.DATE | Kind.DATETIME | Kind.TIMESTAMP:
            return _moments(column, view, at, nulls, counts)
        case Kind.BIT:
            return reversed_bytes(column, view, at, nulls)
        case Kind.FLAG:
            return booleans(view.bytes.take(at) == 1, nulls)
    values = view.slices(at, length, nulls)
    match column.kind:
        case Kind.BYTES | Kind.PADDED_BYTES:
            return values
        case Kind.BOOLEAN:
            return pa.compute.equal(_cast(values, pa.int8()), 1)
        case Kind.FLOAT:
            return _cast(values, pa.float64()).cast(pa.float32(), safe=False)
        case Kind.ROUNDED:
            return rounded(_cast(values, pa.float64()), column)
        case Kind.GEOMETRY:
            return each(values, geometry_text, pa.string())
        case Kind.INTEGER | Kind.BIG_UNSIGNED | Kind.DOUBLE | Kind.DECIMAL | Kind.YEAR:
            return _cast(values, column.arrow)
        case _:
            return utf8_texts(values)


def _cast(values: pa.BinaryArray, type: pa.DataType) -> pa.Array:
    return values.cast(pa.string()).cast(type)


def rounded(values: pa.Array, column: ColumnType) -> pa.Array:
    """FLOAT(m,d): the number that the server shows, which has d digits; a FLOAT's own digits go on beyond them."""
    scale = column.column.scale or 0
    return each(values, lambda value: float(f"{value:.{scale}f}"), pa.float64())


def reversed_bytes(column: ColumnType, view: View, at: Ints, nulls: Bools | None) -> pa.BinaryArray:
    """BIT(n): the server writes the high byte first, the value has the low byte first."""
    width = ((column.column.length or 1) + 7) // 8
    places = at[:, None] + np.arange(width - 1, -1, -1)
    if nulls is not None:
        places[nulls] = 0
    data = view.bytes.take(places)
    fixed = pa.Array.from_buffers(pa.binary(width), len(at), [None, pa.py_buffer(np.ascontiguousarray(data))])
    values = fixed.cast(pa.binary())
    return values if nulls is None else pa.compute.if_else(pa.array(~nulls), values, None)


def _moments(column: ColumnType, view: View, at: Ints, nulls: Bools | None, counts: Counts) -> pa.Array:
    """`2020-07-17 18:00:22.123`: every part stands at its place."""
    if nulls is not None:
        at = np.where(nulls, 0, at)
    year = _digits(view, at, 4)
    month, day = _digits(view, at + 5, 2), _digits(view, at + 8, 2)
    if nulls is not None:
        # what stands at place 0 is no date
        year, month, day = (np.where(nulls, 1, part) for part in (year, month, day))
    wrong = impossible(year, month, day)
    counts.zero_dates += int(np.count_nonzero(wrong))
    date = days(year, month, day)
    missing = either(nulls, wrong)
    if column.kind is Kind.DATE:
        return numbers(date.astype(np.int32), pa.date32(), missing)
    seconds = _digits(view, at + 11, 2) * 3600 + _digits(view, at + 14, 2) * 60 + _digits(view, at + 17, 2)
    micros = (date * 86400 + seconds) * 1_000_000
    digits = column.column.precision or 0
    if digits:
        micros += _digits(view, at + 20, digits) * 10 ** (6 - digits)
    return numbers(micros, column.arrow, missing)


def _digits(view: View, at: Ints, count: int) -> Ints:
    value = np.zeros(len(at), np.int64)
    for place in range(count):
        value = value * 10 + (view.bytes.take(at + place).astype(np.int64) - 48)
    return value
