"""The widest common type of two columns, for tables that share a topic and for changes of a column's type.

| types | common type |
|---|---|
| whole numbers | the larger one |
| whole number or DECIMAL, and DECIMAL | DECIMAL with all digits of both; STRING beyond 38 |
| TINYINT or SMALLINT, and FLOAT | FLOAT |
| any other whole number or FLOAT, and FLOAT or DOUBLE | DOUBLE |
| CHAR, VARCHAR of different lengths | STRING |
| BINARY, VARBINARY of different lengths | BYTES |
| DATE, TIMESTAMP | TIMESTAMP |
| DATE or TIMESTAMP, and TIMESTAMP_LTZ | TIMESTAMP_LTZ |
| TIME of different precision | the more precise one |
| anything else | STRING |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from rowkind.types import (
    BINARIES,
    BYTES,
    CHARACTERS,
    DOUBLE,
    FLOAT,
    INTEGERS,
    STRING,
    TIMESTAMPS,
    DataType,
    Field,
    Root,
    decimal,
)

_ORDER = (Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT)
_DIGITS = {Root.TINYINT: 3, Root.SMALLINT: 5, Root.INT: 10, Root.BIGINT: 19}
_APPROXIMATE = frozenset({Root.FLOAT, Root.DOUBLE})
_POINTS = TIMESTAMPS | {Root.DATE}
MAX_DIGITS = 38


def widest(first: DataType, second: DataType) -> DataType:
    """The type that takes the values of both; nullable if one of them is.

    >>> from rowkind.types import BIGINT, INT
    >>> str(widest(INT, BIGINT)), str(widest(INT, STRING))
    ('BIGINT', 'STRING')
    """
    nullable = first.nullable or second.nullable
    a, b = first.as_nullable(), second.as_nullable()
    return replace(a if a == b else _widest(a, b), nullable=nullable)


def widest_columns(tables: Iterable[Sequence[Field]]) -> tuple[Field, ...]:
    """Columns that take the rows of all tables: in the order in which they first come, NULL where a table has none."""
    listed = [tuple(columns) for columns in tables]
    found: dict[str, DataType] = {}
    for columns in listed:
        for column in columns:
            known = found.get(column.name)
            found[column.name] = column.type if known is None else widest(known, column.type)
    everywhere = set.intersection(*({c.name for c in columns} for columns in listed)) if listed else set()
    return tuple(Field(n, t if n in everywhere else t.as_nullable()) for n, t in found.items())


def _widest(a: DataType, b: DataType) -> DataType:
    roots = {a.root, b.root}
    if roots <= INTEGERS:
        return max(a, b, key=lambda type: _ORDER.index(type.root))
    if Root.DECIMAL in roots and roots <= INTEGERS | {Root.DECIMAL}:
        return _decimal(a, b)
    if roots & _APPROXIMATE and roots <= INTEGERS | _APPROXIMATE:
        return FLOAT if roots <= {Root.TINYINT, Root.SMALLINT, Root.FLOAT} else DOUBLE
    if roots <= CHARACTERS:
        return STRING
    if roots <= BINARIES:
        return BYTES
    if roots <= _POINTS:
        return _point(a, b)
    if roots == {Root.TIME}:
        return max(a, b, key=lambda type: type.precision or 0)
    return STRING


def _decimal(a: DataType, b: DataType) -> DataType:
    (before_a, after_a), (before_b, after_b) = _digits(a), _digits(b)
    before, after = max(before_a, before_b), max(after_a, after_b)
    return decimal(before + after, after) if before + after <= MAX_DIGITS else STRING


def _digits(type: DataType) -> tuple[int, int]:
    """Digits before and after the decimal point."""
    if type.root is not Root.DECIMAL:
        return _DIGITS[type.root], 0
    assert type.precision is not None
    assert type.scale is not None
    return type.precision - type.scale, type.scale


def _point(a: DataType, b: DataType) -> DataType:
    root = Root.TIMESTAMP_LTZ if Root.TIMESTAMP_LTZ in (a.root, b.root) else Root.TIMESTAMP
    return DataType(root, precision=max(a.precision or 0, b.precision or 0))
