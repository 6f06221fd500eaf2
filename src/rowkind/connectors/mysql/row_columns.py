"""One column of row images, bytes as the storage engine has them, as an Arrow array."""

from __future__ import annotations

import ipaddress
import uuid
import zlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from rowkind.connectors.mysql import table_maps as wires
from rowkind.connectors.mysql.arrays import Bools, Ints, View, booleans, each, numbers, time_texts
from rowkind.connectors.mysql.charsets import texts
from rowkind.connectors.mysql.decimals import decimals
from rowkind.connectors.mysql.geometry import geometry_text
from rowkind.connectors.mysql.json_binary import json_text
from rowkind.connectors.mysql.row_moments import dates, datetimes, time_lengths, timestamps
from rowkind.connectors.mysql.table_maps import WireColumn
from rowkind.connectors.mysql.text_columns import reversed_bytes, rounded
from rowkind.connectors.mysql.types import ColumnType, Kind

if TYPE_CHECKING:
    from rowkind.connectors.mysql.reading_counts import Counts


def row_column(
    column: ColumnType, wire: WireColumn, view: View, at: Ints, length: Ints, nulls: Bools | None, counts: Counts
) -> pa.Array:
    """The values at these places of the buffer."""
    match column.kind:
        case Kind.BOOLEAN | Kind.INTEGER | Kind.BIG_UNSIGNED:
            return _integers(column, wire, view, at, nulls)
        case Kind.FLOAT | Kind.DOUBLE | Kind.ROUNDED:
            return _floats(column, wire, view, at, nulls)
        case Kind.DECIMAL | Kind.LONG_DECIMAL:
            return decimals(column, view, at, nulls)
        case Kind.DATE:
            return dates(view, at, nulls, counts)
        case Kind.DATETIME:
            return datetimes(wire, view, at, nulls, counts)
        case Kind.TIMESTAMP:
            return timestamps(wire, view, at, nulls, counts)
        case Kind.TIME:
            negative, micros = time_lengths(wire, view, at)
            return time_texts(negative, _zeroed(micros, nulls), column.column.precision or 0, nulls)
        case Kind.YEAR:
            year = view.little(at, 1)
            return numbers(np.where(year == 0, 0, year + 1900).astype(np.int32), pa.int32(), nulls)
        case Kind.FLAG:
            return booleans(view.little(at, 1) == 1, nulls)
        case Kind.BIT:
            return reversed_bytes(column, view, at, nulls)
        case Kind.ENUM | Kind.SET:
            return _members(column, wire, view, at, nulls)
        case _:
            return _bytes(column, wire, view.slices(at, length, nulls))


def _integers(column: ColumnType, wire: WireColumn, view: View, at: Ints, nulls: Bools | None) -> pa.Array:
    values = view.little(at, wire.width)
    if column.kind is Kind.BOOLEAN:
        return booleans(values == 1, nulls)
    if column.kind is Kind.BIG_UNSIGNED:
        halves = np.zeros((len(at), 2), np.int64)
        halves[:, 0] = values
        return numbers(halves, column.arrow, nulls)
    if wire.width < 8 and not column.column.unsigned:
        shift = 64 - 8 * wire.width
        values = (values << shift) >> shift
    return numbers(values.astype(column.arrow.to_pandas_dtype()), column.arrow, nulls)


def _floats(column: ColumnType, wire: WireColumn, view: View, at: Ints, nulls: Bools | None) -> pa.Array:
    bits = view.little(at, wire.width)
    values: npt.NDArray[Any]
    if wire.type == wires.FLOAT:
        values = bits.astype(np.uint32).view(np.float32)
    else:
        values = bits.view(np.float64)
    if column.kind is not Kind.ROUNDED:
        return numbers(values, column.arrow, nulls)
    return rounded(numbers(values.astype(np.float64), pa.float64(), nulls), column)


def _members(column: ColumnType, wire: WireColumn, view: View, at: Ints, nulls: Bools | None) -> pa.Array:
    """ENUM has the number of its member, 0 the empty text of a wrong value; SET has a bit for each."""
    values = _zeroed(view.little(at, wire.width), nulls)
    members = column.column.values
    if column.kind is Kind.ENUM:
        known = pa.array(["", *members], pa.string())
        return known.take(pa.array(values, mask=nulls))
    different, places = np.unique(values, return_inverse=True)
    chosen = [",".join(m for i, m in enumerate(members) if int(bits) >> i & 1) for bits in different]
    return pa.array(chosen, pa.string()).take(pa.array(places.reshape(-1), mask=nulls))


def _zeroed(values: Ints, nulls: Bools | None) -> Ints:
    return values if nulls is None else np.where(nulls, 0, values)


def _bytes(column: ColumnType, wire: WireColumn, values: pa.BinaryArray) -> pa.Array:
    if wire.type in (wires.BLOB_COMPRESSED, wires.VARCHAR_COMPRESSED):
        values = each(values, uncompressed, pa.binary())
    match column.kind:
        case Kind.TEXT:
            return texts(values, column.column.charset or "utf8mb4")
        case Kind.PADDED_BYTES:
            return _padded(values, column.column.length or 0)
        case Kind.BYTES:
            return values
        case kind:
            return each(values, _SLOW[kind], pa.string())


def _padded(values: pa.BinaryArray, length: int) -> pa.BinaryArray:
    return each(values, lambda value: value.ljust(length, b"\0"), pa.binary())


def uncompressed(value: bytes) -> bytes:
    """A value of a COMPRESSED column: a byte that says how, the length it will have, the rest."""
    if not value or value[0] == 0:
        return value[1:]
    head = 1 + (value[0] & 7)
    return zlib.decompress(value[head:], wbits=-15 if value[0] & 8 else 15)


def uuid_text(value: bytes) -> str:
    return str(uuid.UUID(bytes=value.ljust(16, b"\0")))


def inet4_text(value: bytes) -> str:
    return str(ipaddress.IPv4Address(value.ljust(4, b"\0")))


def inet6_text(value: bytes) -> str:
    """As MariaDB writes it: also a single zero is left out, and an address of version 4 inside keeps its dots."""
    value = value.ljust(16, b"\0")
    groups = [f"{int.from_bytes(value[at : at + 2], 'big'):x}" for at in range(0, 16, 2)]
    runs = [
        (length, -start)
        for start in range(8)
        for length in range(1, 9 - start)
        if set(groups[start : start + length]) == {"0"}
    ]
    length, start = max(runs, default=(0, 0))
    start = -start
    if start == 0 and (length == 6 or (length == 5 and groups[5] == "ffff")):
        return f"::{'ffff:' if length == 5 else ''}{ipaddress.IPv4Address(value[12:])}"
    if not length:
        return ":".join(groups)
    return f"{':'.join(groups[:start])}::{':'.join(groups[start + length :])}"


_SLOW: dict[Kind, Callable[[bytes], str]] = {
    Kind.JSON: json_text,
    Kind.GEOMETRY: geometry_text,
    Kind.UUID: uuid_text,
    Kind.INET4: inet4_text,
    Kind.INET6: inet6_text,
}
