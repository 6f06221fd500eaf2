"""Flink's SQL types, their Arrow form and their Spark form. No Spark is imported here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import pyarrow as pa


class Root(StrEnum):
    CHAR = "CHAR"
    VARCHAR = "VARCHAR"
    BOOLEAN = "BOOLEAN"
    BINARY = "BINARY"
    VARBINARY = "VARBINARY"
    DECIMAL = "DECIMAL"
    TINYINT = "TINYINT"
    SMALLINT = "SMALLINT"
    INT = "INT"
    BIGINT = "BIGINT"
    FLOAT = "FLOAT"
    DOUBLE = "DOUBLE"
    DATE = "DATE"
    TIME = "TIME"
    TIMESTAMP = "TIMESTAMP"
    TIMESTAMP_LTZ = "TIMESTAMP_LTZ"
    INTERVAL_YEAR_MONTH = "INTERVAL YEAR TO MONTH"
    INTERVAL_DAY_TIME = "INTERVAL DAY TO SECOND"
    ARRAY = "ARRAY"
    MULTISET = "MULTISET"
    MAP = "MAP"
    ROW = "ROW"
    NULL = "NULL"


CHARACTERS = frozenset({Root.CHAR, Root.VARCHAR})
BINARIES = frozenset({Root.BINARY, Root.VARBINARY})
INTEGERS = frozenset({Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT})
NUMERICS = INTEGERS | {Root.FLOAT, Root.DOUBLE, Root.DECIMAL}
TIMESTAMPS = frozenset({Root.TIMESTAMP, Root.TIMESTAMP_LTZ})
MAX_LENGTH = 2_147_483_647
"""The length of STRING and BYTES, which Flink defines as VARCHAR and VARBINARY of this length."""


@dataclass(frozen=True, slots=True)
class Field:
    """A named member of a ROW."""

    name: str
    type: DataType
    comment: str | None = None


@dataclass(frozen=True, slots=True)
class DataType:
    """One Flink SQL type.

    `length` is that of CHAR, VARCHAR, BINARY, VARBINARY; `precision` and `scale` those of DECIMAL, `precision` also of
    TIME and TIMESTAMP; `element` is the element of ARRAY and MULTISET and the value of MAP.

    >>> str(DataType(Root.DECIMAL, precision=10, scale=2, nullable=False))
    'DECIMAL(10, 2) NOT NULL'
    """

    root: Root
    nullable: bool = True
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    element: DataType | None = None
    key: DataType | None = None
    fields: tuple[Field, ...] = ()

    def not_null(self) -> DataType:
        return replace(self, nullable=False)

    def as_nullable(self) -> DataType:
        return replace(self, nullable=True)

    def __str__(self) -> str:
        return self._text() + ("" if self.nullable else " NOT NULL")

    def _text(self) -> str:
        match self.root:
            case Root.VARCHAR if self.length == MAX_LENGTH:
                return "STRING"
            case Root.VARBINARY if self.length == MAX_LENGTH:
                return "BYTES"
            case Root.CHAR | Root.VARCHAR | Root.BINARY | Root.VARBINARY:
                return f"{self.root}({self.length})"
            case Root.DECIMAL:
                return f"DECIMAL({self.precision}, {self.scale})"
            case Root.TIME | Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
                return f"{self.root}({self.precision})"
            case Root.ARRAY | Root.MULTISET:
                return f"{self.root}<{self.element}>"
            case Root.MAP:
                return f"MAP<{self.key}, {self.element}>"
            case Root.ROW:
                inner = ", ".join(f"{quote(f.name)} {f.type}" for f in self.fields)
                return f"ROW<{inner}>"
            case _:
                return str(self.root)


def quote(name: str) -> str:
    """An identifier in back quotes, as both Flink and Spark write it."""
    return "`" + name.replace("`", "``") + "`"


BOOLEAN = DataType(Root.BOOLEAN)
TINYINT = DataType(Root.TINYINT)
SMALLINT = DataType(Root.SMALLINT)
INT = DataType(Root.INT)
BIGINT = DataType(Root.BIGINT)
FLOAT = DataType(Root.FLOAT)
DOUBLE = DataType(Root.DOUBLE)
STRING = DataType(Root.VARCHAR, length=MAX_LENGTH)
BYTES = DataType(Root.VARBINARY, length=MAX_LENGTH)
DATE = DataType(Root.DATE)
NULL = DataType(Root.NULL)


def decimal(precision: int, scale: int) -> DataType:
    return DataType(Root.DECIMAL, precision=precision, scale=scale)


def timestamp(precision: int = 6) -> DataType:
    return DataType(Root.TIMESTAMP, precision=precision)


def timestamp_ltz(precision: int = 6) -> DataType:
    return DataType(Root.TIMESTAMP_LTZ, precision=precision)


def time(precision: int = 0) -> DataType:
    return DataType(Root.TIME, precision=precision)


def array(element: DataType) -> DataType:
    return DataType(Root.ARRAY, element=element)


def map_of(key: DataType, value: DataType) -> DataType:
    return DataType(Root.MAP, key=key, element=value)


def row(*fields: Field | tuple[str, DataType]) -> DataType:
    return DataType(Root.ROW, fields=tuple(f if isinstance(f, Field) else Field(*f) for f in fields))


_ARROW: dict[Root, pa.DataType] = {
    Root.CHAR: pa.string(),
    Root.VARCHAR: pa.string(),
    Root.BOOLEAN: pa.bool_(),
    Root.BINARY: pa.binary(),
    Root.VARBINARY: pa.binary(),
    Root.TINYINT: pa.int8(),
    Root.SMALLINT: pa.int16(),
    Root.INT: pa.int32(),
    Root.BIGINT: pa.int64(),
    Root.FLOAT: pa.float32(),
    Root.DOUBLE: pa.float64(),
    Root.DATE: pa.date32(),
    Root.TIME: pa.time64("ns"),
    Root.TIMESTAMP: pa.timestamp("us"),
    Root.TIMESTAMP_LTZ: pa.timestamp("us", tz="UTC"),
    Root.INTERVAL_DAY_TIME: pa.duration("us"),
    Root.INTERVAL_YEAR_MONTH: pa.int32(),
    Root.NULL: pa.null(),
}
"""Spark holds microseconds. INTERVAL YEAR TO MONTH is its number of months: Spark gives it no Arrow form."""

_SPARK: dict[Root, str] = {
    Root.CHAR: "STRING",
    Root.VARCHAR: "STRING",
    Root.BINARY: "BINARY",
    Root.VARBINARY: "BINARY",
    Root.TIME: "TIME(6)",
    Root.TIMESTAMP: "TIMESTAMP_NTZ",
    Root.TIMESTAMP_LTZ: "TIMESTAMP",
    Root.INTERVAL_YEAR_MONTH: "INT",
    Root.NULL: "VOID",
}


def arrow_type(type: DataType) -> pa.DataType:
    """The Arrow type that carries a column of this type between Kafka, Spark and the operators."""
    match type.root:
        case Root.DECIMAL:
            return pa.decimal128(type.precision, type.scale)
        case Root.ARRAY:
            assert type.element
            return pa.list_(pa.field("element", arrow_type(type.element), type.element.nullable))
        case Root.MAP | Root.MULTISET:
            key, value = map_members(type)
            return pa.map_(arrow_type(key), pa.field("value", arrow_type(value), value.nullable))
        case Root.ROW:
            return pa.struct([arrow_field(f.name, f.type) for f in type.fields])
        case _:
            return _ARROW[type.root]


def map_members(type: DataType) -> tuple[DataType, DataType]:
    """Key and value of a MAP; a MULTISET is a map from its element to a count."""
    if type.root is Root.MULTISET:
        assert type.element
        return type.element, INT.not_null()
    assert type.key
    assert type.element
    return type.key, type.element


def arrow_field(name: str, type: DataType) -> pa.Field:
    return pa.field(name, arrow_type(type), type.nullable)


def arrow_schema(columns: tuple[Field, ...]) -> pa.Schema:
    return pa.schema([arrow_field(c.name, c.type) for c in columns])


def spark_type(type: DataType) -> str:
    """The type in Spark's DDL."""
    match type.root:
        case Root.DECIMAL:
            return f"DECIMAL({type.precision}, {type.scale})"
        case Root.ARRAY:
            assert type.element
            return f"ARRAY<{spark_type(type.element)}>"
        case Root.MAP | Root.MULTISET:
            key, value = map_members(type)
            return f"MAP<{spark_type(key)}, {spark_type(value)}>"
        case Root.ROW:
            inner = ", ".join(
                f"{quote(f.name)}: {spark_type(f.type)}{'' if f.type.nullable else ' NOT NULL'}" for f in type.fields
            )
            return f"STRUCT<{inner}>"
        case _:
            return _SPARK.get(type.root, str(type.root))
