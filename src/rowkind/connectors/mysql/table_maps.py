"""TABLE_MAP events: how the rows that follow are laid out, checked against the schema they are read with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rowkind.connectors.mysql.schemas import TableId
from rowkind.connectors.mysql.types import ColumnType, Kind

TINY, SHORT, LONG, FLOAT, DOUBLE, OLD_TIMESTAMP, LONGLONG, INT24 = 1, 2, 3, 4, 5, 7, 8, 9
DATE, OLD_TIME, OLD_DATETIME, YEAR, VARCHAR, BIT = 10, 11, 12, 13, 15, 16
TIMESTAMP, DATETIME, TIME = 17, 18, 19
BLOB_COMPRESSED, VARCHAR_COMPRESSED = 140, 141
JSON, DECIMAL, ENUM, SET, BLOB, STRING, GEOMETRY = 245, 246, 247, 248, 252, 254, 255
_FIXED = {
    TINY: 1, SHORT: 2, INT24: 3, LONG: 4, LONGLONG: 8, FLOAT: 4, DOUBLE: 8, DATE: 3, YEAR: 1,
    OLD_TIMESTAMP: 4, OLD_TIME: 3, OLD_DATETIME: 8,
}  # fmt: skip
_METADATA = {
    **dict.fromkeys((FLOAT, DOUBLE, BLOB, BLOB_COMPRESSED, JSON, GEOMETRY, TIMESTAMP, DATETIME, TIME, 242), 1),
    **dict.fromkeys((VARCHAR, VARCHAR_COMPRESSED, BIT, DECIMAL, STRING, ENUM, SET, 253), 2),
}
"""How many bytes describe a column of a type further."""
_COLUMN_NAMES = 4
_DIGIT_BYTES = (0, 1, 1, 2, 2, 3, 3, 4, 4, 4)
"""Bytes for so many decimal digits."""


@dataclass(frozen=True, slots=True)
class WireColumn:
    """One column as an event describes it: bytes of a value, or of the length before it."""

    type: int
    meta: bytes
    fixed: bool
    width: int


@dataclass(frozen=True, slots=True)
class TableMap:
    """A table as the rows that follow have it."""

    table: TableId
    columns: tuple[WireColumn, ...]
    names: tuple[str, ...]
    """Empty unless the server has binlog_row_metadata=FULL."""


def table_map(body: bytes) -> TableMap:
    """The event's contents from the name of the database on."""
    length = body[0]
    database = body[1 : 1 + length].decode("utf-8", "replace")
    at = length + 2
    length = body[at]
    name = body[at + 1 : at + 1 + length].decode("utf-8", "replace")
    count, at = _length(body, at + length + 2)
    types = body[at : at + count]
    size, at = _length(body, at + count)
    columns, place = [], at
    for type in types:
        meta = body[place : place + _METADATA.get(type, 0)]
        place += len(meta)
        columns.append(_wire_column(type, meta))
    at += size + (count + 7) // 8
    return TableMap(TableId(database, name), tuple(columns), _names(body, at, count))


def _wire_column(type: int, meta: bytes) -> WireColumn:
    fixed, width = True, _FIXED.get(type, 0)
    match type:
        case 17 | 18 | 19:
            width = {TIMESTAMP: 4, DATETIME: 5, TIME: 3}[type] + (meta[0] + 1) // 2
        case 246:
            width = sum(group for group, _ in decimal_groups(meta[0], meta[1]))
        case 16:
            width = meta[1] + (meta[0] > 0)
        case 15 | 141:
            fixed, width = False, 1 if int.from_bytes(meta, "little") < 256 else 2
        case 252 | 245 | 255 | 140 | 242:
            fixed, width = False, meta[0]
        case 254 if meta[0] in (ENUM, SET):
            type, width = meta[0], meta[1]
        case 254:
            # Two bits of a long CHAR's length are hidden, inverted, in the byte of the type.
            length = meta[1] | (((meta[0] & 0x30) ^ 0x30) << 4)
            fixed, width = False, 1 if length < 256 else 2
    return WireColumn(type, meta, fixed, width)


def decimal_groups(precision: int, scale: int) -> list[tuple[int, int]]:
    """The groups of digits in which a DECIMAL is stored: bytes and digits of each, before the point and behind it."""
    whole = precision - scale
    before = ([(_DIGIT_BYTES[whole % 9], whole % 9)] if whole % 9 else []) + [(4, 9)] * (whole // 9)
    return before + [(4, 9)] * (scale // 9) + ([(_DIGIT_BYTES[scale % 9], scale % 9)] if scale % 9 else [])


def _names(body: bytes, at: int, count: int) -> tuple[str, ...]:
    while at < len(body):
        kind = body[at]
        size, at = _length(body, at + 1)
        if kind == _COLUMN_NAMES:
            names = []
            for _ in range(count):
                length, at = _length(body, at)
                names.append(body[at : at + length].decode("utf-8", "replace"))
                at += length
            return tuple(names)
        at += size
    return ()


def _length(body: bytes, at: int) -> tuple[int, int]:
    first = body[at]
    if first < 251:
        return first, at + 1
    width = {252: 2, 253: 3, 254: 8}[first]
    return int.from_bytes(body[at + 1 : at + 1 + width], "little"), at + 1 + width


_INTEGERS = {"tinyint": TINY, "smallint": SHORT, "mediumint": INT24, "int": LONG, "bigint": LONGLONG}
_ALLOWED = {
    Kind.DATE: {DATE},
    Kind.DATETIME: {DATETIME, OLD_DATETIME},
    Kind.TIMESTAMP: {TIMESTAMP, OLD_TIMESTAMP},
    Kind.TIME: {TIME, OLD_TIME},
    Kind.YEAR: {YEAR},
    Kind.FLOAT: {FLOAT},
    Kind.DOUBLE: {DOUBLE},
    Kind.ROUNDED: {FLOAT, DOUBLE},
    Kind.DECIMAL: {DECIMAL},
    Kind.LONG_DECIMAL: {DECIMAL},
    Kind.BIT: {BIT},
    Kind.FLAG: {BIT},
    Kind.ENUM: {ENUM},
    Kind.SET: {SET},
    Kind.JSON: {JSON},
    Kind.GEOMETRY: {GEOMETRY},
    Kind.PADDED_BYTES: {STRING},
    Kind.UUID: {STRING},
    Kind.INET4: {STRING},
    Kind.INET6: {STRING},
}


def difference(found: TableMap, columns: Sequence[ColumnType]) -> str:
    """What in the event is not as the schema says, or nothing: rows read with a wrong schema would be wrong rows."""
    if len(found.columns) != len(columns):
        return f"it has {len(found.columns)} columns, the schema {len(columns)}"
    for place, (wire, column) in enumerate(zip(found.columns, columns, strict=True)):
        name = column.column.name
        if found.names and found.names[place].lower() != name.lower():
            return f"its column {place + 1} is {found.names[place]}, in the schema {name}"
        if wire.type not in _types_of(column) or not _fits(wire, column):
            return f"column {name} is {column.column.type} in the schema, the event has type {wire.type}"
    return ""


def _types_of(column: ColumnType) -> set[int]:
    if column.column.type in _INTEGERS:
        return {_INTEGERS[column.column.type]}
    if column.kind in (Kind.TEXT, Kind.BYTES):
        return {BLOB, BLOB_COMPRESSED, VARCHAR, VARCHAR_COMPRESSED, STRING}
    return _ALLOWED[column.kind]


def _fits(wire: WireColumn, column: ColumnType) -> bool:
    if wire.type == DECIMAL:
        return (wire.meta[0], wire.meta[1]) == (column.column.precision or 10, column.column.scale or 0)
    if wire.type in (TIMESTAMP, DATETIME, TIME):
        return wire.meta[0] == (column.column.precision or 0)
    if wire.type in (OLD_TIMESTAMP, OLD_DATETIME, OLD_TIME):
        return not column.column.precision
    if wire.type == BIT:
        return wire.meta[0] + 8 * wire.meta[1] == (column.column.length or 1)
    return True
