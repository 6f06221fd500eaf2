"""The common type of several values, as branches of CASE, elements of an array and sides of a comparison need it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from rowkind import types as t
from rowkind.types import DataType, Field, Root

EXACT = {Root.TINYINT: 3, Root.SMALLINT: 5, Root.INT: 10, Root.BIGINT: 19}
"""Integer types and their precision as a decimal."""

APPROXIMATE = frozenset({Root.FLOAT, Root.DOUBLE})
INTERVALS = frozenset({Root.INTERVAL_DAY_TIME, Root.INTERVAL_YEAR_MONTH})


def common_type(types: Sequence[DataType]) -> DataType | None:
    """The least restrictive type that holds values of all the given ones; None if there is none.

    >>> str(common_type([t.INT, t.decimal(5, 2)]))
    'DECIMAL(12, 2)'
    """
    nullable = any(type.nullable for type in types)
    found: DataType | None = None
    for type in types:
        if type.root is Root.NULL:
            continue
        found = type if found is None else _merge(found, type)
        if found is None:
            return None
    return replace(found or t.NULL, nullable=nullable)


def branch_type(types: Sequence[DataType]) -> DataType | None:
    """The common type of branches of CASE and of members of ARRAY and MAP.

    Calcite takes FLOAT and DOUBLE for equally wide there, so that the first of them counts.

    >>> str(branch_type([t.FLOAT, t.DOUBLE]))
    'FLOAT'
    """
    found = common_type(types)
    first = next((type for type in types if type.root in APPROXIMATE), None)
    if found is None or first is None or any(type.root not in APPROXIMATE | {Root.NULL} for type in types):
        return found
    return replace(first, nullable=found.nullable)


def _merge(left: DataType, right: DataType) -> DataType | None:
    if left.as_nullable() == right.as_nullable():
        return left
    for roots, merge in _FAMILIES:
        if left.root in roots and right.root in roots:
            return merge(left, right)
    return None


def as_decimal(type: DataType) -> tuple[int, int]:
    """Precision and scale of an exact number."""
    if type.root is Root.DECIMAL:
        assert type.precision is not None
        assert type.scale is not None
        return type.precision, type.scale
    return EXACT[type.root], 0


def _numbers(left: DataType, right: DataType) -> DataType:
    if left.root in APPROXIMATE or right.root in APPROXIMATE:
        return _approximate(left, right)
    if Root.DECIMAL not in (left.root, right.root):
        return max(left, right, key=lambda type: EXACT[type.root])
    (p1, s1), (p2, s2) = as_decimal(left), as_decimal(right)
    digits = min(max(p1 - s1, p2 - s2), 38)
    scale = min(max(s1, s2), 38 - digits)
    return t.decimal(digits + scale, scale)


def _approximate(left: DataType, right: DataType) -> DataType:
    roots = {left.root, right.root}
    return t.DOUBLE if Root.DOUBLE in roots or Root.DECIMAL in roots else t.FLOAT


def _strings(left: DataType, right: DataType) -> DataType:
    variable, fixed = (Root.VARCHAR, Root.CHAR) if left.root in t.CHARACTERS else (Root.VARBINARY, Root.BINARY)
    assert left.length is not None
    assert right.length is not None
    same = left.root is right.root is fixed and left.length == right.length
    return DataType(fixed if same else variable, length=max(left.length, right.length))


def _timestamps(left: DataType, right: DataType) -> DataType:
    root = left.root if left.root is right.root else Root.TIMESTAMP_LTZ
    return DataType(root, precision=max(left.precision or 0, right.precision or 0))


def _times(left: DataType, right: DataType) -> DataType:
    return t.time(max(left.precision or 0, right.precision or 0))


def _arrays(left: DataType, right: DataType) -> DataType | None:
    assert left.element
    assert right.element
    element = common_type([left.element, right.element])
    return replace(left, element=element) if element else None


def _maps(left: DataType, right: DataType) -> DataType | None:
    assert left.key
    assert right.key
    key = common_type([left.key, right.key])
    inner = _arrays(left, right)
    return replace(inner, key=key) if key and inner else None


def _rows(left: DataType, right: DataType) -> DataType | None:
    if len(left.fields) != len(right.fields):
        return None
    merged: list[Field] = []
    for mine, other in zip(left.fields, right.fields, strict=True):
        type = common_type([mine.type, other.type])
        if type is None:
            return None
        merged.append(replace(mine, type=type))
    return replace(left, fields=tuple(merged))


_FAMILIES: tuple[tuple[frozenset[Root], Callable[[DataType, DataType], DataType | None]], ...] = (
    (t.NUMERICS, _numbers),
    (t.CHARACTERS, _strings),
    (t.BINARIES, _strings),
    (t.TIMESTAMPS, _timestamps),
    (frozenset({Root.TIME}), _times),
    (frozenset({Root.ARRAY}), _arrays),
    (frozenset({Root.MULTISET}), _arrays),
    (frozenset({Root.MAP}), _maps),
    (frozenset({Root.ROW}), _rows),
    (frozenset({Root.BOOLEAN}), lambda left, right: left),
    (frozenset({Root.DATE}), lambda left, right: left),
    (frozenset({Root.INTERVAL_DAY_TIME}), lambda left, right: left),
    (frozenset({Root.INTERVAL_YEAR_MONTH}), lambda left, right: left),
)
