"""The one table of types: what a MySQL column is in rowkind, in snapshot and binlog alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

import pyarrow as pa

from rowkind import types as logical
from rowkind.connectors.mysql.connection import quoted
from rowkind.connectors.mysql.schemas import ColumnSchema, TableSchema
from rowkind.errors import RowkindError
from rowkind.types import DataType, Field, Root

MAX_PRECISION = 38
GEOMETRIES = frozenset(
    {
        "geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon",
        "geometrycollection", "geomcollection",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Reading:
    """The choices a user has about types."""

    tinyint1_as_boolean: bool = True


class Kind(Enum):
    """How values of a column are written by the server and read here."""

    BOOLEAN = auto()
    """TINYINT(1): only 1 is true."""
    INTEGER = auto()
    BIG_UNSIGNED = auto()
    FLOAT = auto()
    DOUBLE = auto()
    ROUNDED = auto()
    """FLOAT(m,d) and DOUBLE(m,d): what the server shows has d digits."""
    DECIMAL = auto()
    LONG_DECIMAL = auto()
    """More digits than a DECIMAL has: text."""
    DATE = auto()
    DATETIME = auto()
    TIMESTAMP = auto()
    TIME = auto()
    YEAR = auto()
    TEXT = auto()
    BYTES = auto()
    PADDED_BYTES = auto()
    """BINARY(n): the binlog cuts zero bytes from its end."""
    BIT = auto()
    FLAG = auto()
    """BIT(1)."""
    ENUM = auto()
    SET = auto()
    JSON = auto()
    GEOMETRY = auto()
    UUID = auto()
    INET4 = auto()
    INET6 = auto()


@dataclass(frozen=True, slots=True)
class ColumnType:
    """A column with what it is read as."""

    column: ColumnSchema
    kind: Kind
    type: DataType

    @property
    def arrow(self) -> pa.DataType:
        return logical.arrow_type(self.type)


_INTEGERS = {
    "tinyint": (logical.TINYINT, logical.SMALLINT),
    "smallint": (logical.SMALLINT, logical.INT),
    "mediumint": (logical.INT, logical.INT),
    "int": (logical.INT, logical.BIGINT),
    "bigint": (logical.BIGINT, logical.decimal(20, 0)),
}
"""Signed and unsigned."""
_SIMPLE = {
    "date": (Kind.DATE, logical.DATE),
    "time": (Kind.TIME, logical.STRING),
    "year": (Kind.YEAR, logical.INT),
    "enum": (Kind.ENUM, logical.STRING),
    "set": (Kind.SET, logical.STRING),
    "json": (Kind.JSON, logical.STRING),
    "uuid": (Kind.UUID, logical.STRING),
    "inet4": (Kind.INET4, logical.STRING),
    "inet6": (Kind.INET6, logical.STRING),
    **dict.fromkeys(("tinytext", "text", "mediumtext", "longtext"), (Kind.TEXT, logical.STRING)),
    **dict.fromkeys(("tinyblob", "blob", "mediumblob", "longblob"), (Kind.BYTES, logical.BYTES)),
    **dict.fromkeys(GEOMETRIES, (Kind.GEOMETRY, logical.STRING)),
}


def column_type(schema: TableSchema, column: ColumnSchema, reading: Reading) -> ColumnType:
    """What one column is read as; a type that is not known is an error that names the column."""
    found = _number(column, reading) or _sized(column) or _SIMPLE.get(column.type)
    if found is None:
        raise RowkindError("MYSQL_COLUMN_TYPE", table=schema.id, column=column.name, type=column.type)
    kind, type = found
    # A zero date is NULL whatever the column says of itself.
    dates = kind in (Kind.DATE, Kind.DATETIME, Kind.TIMESTAMP)
    return ColumnType(column, kind, type if column.nullable or dates else type.not_null())


def column_types(schema: TableSchema, reading: Reading) -> tuple[ColumnType, ...]:
    return tuple(column_type(schema, column, reading) for column in schema.columns)


def fields(schema: TableSchema, reading: Reading) -> tuple[Field, ...]:
    """The columns of a table in rowkind's types."""
    return tuple(Field(c.column.name, c.type, c.column.comment or None) for c in column_types(schema, reading))


def arrow_schema(columns: Sequence[ColumnType]) -> pa.Schema:
    return pa.schema([pa.field(c.column.name, c.arrow) for c in columns])


def select_expression(column: ColumnType) -> str:
    """How a snapshot selects a column. The text of a FLOAT has six digits: as a double it has all it needs."""
    name = quoted(column.column.name)
    return f"{name} * 1E0" if column.kind in (Kind.FLOAT, Kind.ROUNDED) else name


def _number(column: ColumnSchema, reading: Reading) -> tuple[Kind, DataType] | None:
    if column.type in _INTEGERS:
        if column.type == "tinyint" and column.length == 1 and not column.unsigned and reading.tinyint1_as_boolean:
            return Kind.BOOLEAN, logical.BOOLEAN
        type = _INTEGERS[column.type][column.unsigned]
        return (Kind.BIG_UNSIGNED if type.root is Root.DECIMAL else Kind.INTEGER), type
    if column.type in ("float", "double"):
        if column.scale is not None:
            return Kind.ROUNDED, logical.DOUBLE
        return (Kind.FLOAT, logical.FLOAT) if column.type == "float" else (Kind.DOUBLE, logical.DOUBLE)
    if column.type == "decimal":
        precision, scale = column.precision or 10, column.scale or 0
        if precision > MAX_PRECISION:
            return Kind.LONG_DECIMAL, logical.STRING
        return Kind.DECIMAL, logical.decimal(precision, scale)
    return None


def _sized(column: ColumnSchema) -> tuple[Kind, DataType] | None:
    length = column.length
    match column.type:
        case "char" | "varchar":
            root = Root.CHAR if column.type == "char" else Root.VARCHAR
            return Kind.TEXT, DataType(root, length=length) if length else logical.STRING
        case "binary":
            return Kind.PADDED_BYTES, DataType(Root.BINARY, length=length) if length else logical.BYTES
        case "varbinary":
            return Kind.BYTES, DataType(Root.VARBINARY, length=length) if length else logical.BYTES
        case "bit" if (length or 1) == 1:
            return Kind.FLAG, logical.BOOLEAN
        case "bit":
            return Kind.BIT, DataType(Root.BINARY, length=((length or 1) + 7) // 8)
        case "datetime":
            return Kind.DATETIME, logical.timestamp(column.precision or 0)
        case "timestamp":
            return Kind.TIMESTAMP, logical.timestamp_ltz(column.precision or 0)
        case _:
            return None
