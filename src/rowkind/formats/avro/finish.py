"""From Avro's values to a column's: integers to dates and times, bytes to text and decimals, both ways of reading."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa

from rowkind.formats.avro.cursor import SLOW, Cursor
from rowkind.formats.avro.readers import Finish
from rowkind.formats.charsets import utf8_text, utf8_texts
from rowkind.formats.spans import Ints
from rowkind.types import DataType, Root, arrow_type

_WIDTHS = {Root.TINYINT: 8, Root.SMALLINT: 16, Root.INT: 32, Root.BIGINT: 64}
_DAY_MILLIS = 86_400_000
_MOST_MILLIS = 9_223_372_036_854_775
"""The last millisecond that a count of microseconds in 64 bits can reach."""


def finish(type: DataType) -> Finish:
    """For a column of this type, whatever the writer's numbers or bytes were."""
    arrow = arrow_type(type)
    match type.root:
        case Root.BOOLEAN:
            return Finish(lambda values, _: pa.array(values), bool)
        case Root.TINYINT | Root.SMALLINT | Root.INT | Root.BIGINT:
            width = _WIDTHS[type.root]
            return Finish(lambda values, _: pa.array(values.astype(f"i{width // 8}")), _wrapped(width))
        case Root.FLOAT | Root.DOUBLE:
            numpy = np.dtype("f4" if type.root is Root.FLOAT else "f8")
            return Finish(lambda values, _: pa.array(values.astype(numpy)), lambda value: float(numpy.type(value)))
        case Root.DATE:
            return Finish(lambda values, _: pa.array(values.astype("i4")).view(arrow), _wrapped(32))
        case Root.TIME:
            return Finish(_times, _time)
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return Finish(lambda values, cursor: _timestamps(values, cursor).view(arrow), _timestamp)
        case Root.DECIMAL:
            return _decimal(type.precision or 0, type.scale or 0)
        case Root.CHAR | Root.VARCHAR:
            return Finish(_texts, utf8_text)
        case _:
            return Finish(lambda places, cursor: cursor.binary(*places), bytes)


def _wrapped(width: int) -> Callable[[int], int]:
    half = 1 << width - 1
    return lambda value: ((value + half) & ((half << 1) - 1)) - half


def _times(values: Ints, cursor: Cursor) -> pa.Array:
    cursor.fail((values < 0) | (values >= _DAY_MILLIS), "a time of day is out of range")
    return pa.array(np.where(cursor.alive, values, 0) * 1_000_000).view(pa.time64("ns"))


def _time(value: int) -> int:
    if not 0 <= value < _DAY_MILLIS:
        raise ValueError("a time of day is out of range")
    return value * 1_000_000


def _timestamps(values: Ints, cursor: Cursor) -> pa.Int64Array:
    cursor.fail((values < -_MOST_MILLIS) | (values > _MOST_MILLIS), "a timestamp is out of range")
    return pa.array(np.where(cursor.alive, values, 0) * 1000)


def _timestamp(value: int) -> int:
    if not -_MOST_MILLIS <= value <= _MOST_MILLIS:
        raise ValueError("a timestamp is out of range")
    return value * 1000


def _texts(places: tuple[Ints, Ints], cursor: Cursor) -> pa.StringArray:
    return utf8_texts(cursor.binary(*places))


def _decimal(precision: int, scale: int) -> Finish:
    limit = 10**precision
    safe = next(size for size in range(17, -1, -1) if size == 0 or 1 << (8 * size - 1) <= limit)

    def column(places: tuple[Ints, Ints], cursor: Cursor) -> pa.Array:
        starts, sizes = places
        cursor.fail(sizes == 0, "a decimal has no digits")
        cursor.fail((sizes > 16) | ((sizes > 8) & (sizes > safe)), SLOW)
        low, high = _words(cursor, np.where(cursor.alive, starts + sizes, 16), np.where(cursor.alive, sizes, 1))
        too_large = (np.abs(low) >= limit) & (sizes <= 8) if precision <= 18 else np.zeros(len(low), np.bool_)
        # Arrow's decimal is two words, the low one first.
        both = np.stack([low, high], axis=1)
        valid = pa.array(~too_large).buffers()[1] if too_large.any() else None
        return pa.Array.from_buffers(pa.decimal128(precision, scale), len(low), [valid, pa.py_buffer(both)])

    def value(data: bytes) -> Decimal | None:
        if not data:
            raise ValueError("a decimal has no digits")
        unscaled = int.from_bytes(data, "big", signed=True)
        return Decimal((unscaled < 0, tuple(map(int, str(abs(unscaled)))), -scale)) if abs(unscaled) < limit else None

    return Finish(column, value)


def _words(cursor: Cursor, ends: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Big-endian numbers of 1 to 16 bytes as two words, sign included."""
    low = cursor.block.words[ends - 8].byteswap().view(np.int64)
    high = cursor.block.words[ends - 16].byteswap().view(np.int64)
    spare = 64 - 8 * np.minimum(sizes, 8)
    low = (low << spare) >> spare
    spare = 64 - 8 * np.clip(sizes - 8, 1, 8)
    return low, np.where(sizes > 8, (high << spare) >> spare, low >> 63)
