"""Columns as the text that Java writes, whole arrays at a time; what Arrow writes otherwise goes value by value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats.temporal import TimestampStandard, render_date, render_timestamp
from rowkind.formats.text import base64_text, java_double, java_float, plain_decimal, short_decimal
from rowkind.types import DataType, Root

_FIRST_DAY, _LAST_DAY = -719_528, 2_932_896
"""0000-01-01 and 9999-12-31: years that have four digits and no sign."""
_DAY = 86_400_000_000


def render_column(column: pa.Array, type: DataType, plain_decimals: bool = True) -> pa.StringArray:
    """The text of every value of a simple type; null stays null."""
    match type.root:
        case Root.CHAR | Root.VARCHAR:
            return column
        case Root.FLOAT:
            return _floats(column, java_float)
        case Root.DOUBLE:
            return _floats(column, java_double)
        case Root.DECIMAL if plain_decimals:
            text = column.cast(pa.string())
            return _replaced(text, pc.match_substring(text, "E"), column, plain_decimal)
        case Root.DECIMAL:
            return _each(column, short_decimal)
        case Root.BINARY | Root.VARBINARY:
            return _each(column, base64_text)
        case Root.DATE:
            return _dates(column)
        case Root.TIME:
            return without_zeros(column.cast(pa.time32("ms"), safe=False).cast(pa.string()))
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return _timestamps(column, type.root is Root.TIMESTAMP_LTZ)
        case _:
            return column.cast(pa.string())


def _floats(column: pa.Array, exact: Callable[[float], str]) -> pa.StringArray:
    text = column.cast(pa.string())
    text = pc.if_else(pc.match_substring(text, "."), text, pc.binary_join_element_wise(text, ".0", ""))
    size = pc.abs(column)
    plain = pc.or_(pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7)), pc.equal(size, 0))
    return _replaced(text, pc.invert(plain), column, exact)


def _dates(column: pa.Array) -> pa.StringArray:
    days = column.cast(pa.int32())
    strange = pc.or_(pc.less(days, _FIRST_DAY), pc.greater(days, _LAST_DAY))
    return _replaced(column.cast(pa.string()), strange, days, render_date)


def _timestamps(column: pa.Array, zone: bool) -> pa.StringArray:
    micros = column.cast(pa.int64())
    text = without_zeros(column.view(pa.timestamp("us")).cast(pa.string()))
    if zone:
        text = pc.binary_join_element_wise(text, "Z", "")
    strange = pc.or_(pc.less(micros, _FIRST_DAY * _DAY), pc.greater_equal(micros, (_LAST_DAY + 1) * _DAY))
    return _replaced(text, strange, micros, lambda m: render_timestamp(m, TimestampStandard.SQL, zone))


def without_zeros(text: pa.StringArray) -> pa.StringArray:
    """Clock times without the zeros at the end of their fraction, and without an empty fraction."""
    return pc.ascii_rtrim(pc.ascii_rtrim(text, "0"), ".")


def _each(column: pa.Array, exact: Callable[[Any], str]) -> pa.StringArray:
    return pa.array([None if v is None else exact(v) for v in column.to_pylist()], pa.string())


def _replaced(text: pa.StringArray, where: Any, column: pa.Array, exact: Callable[[Any], str]) -> pa.StringArray:
    """The text with the marked values written the exact way."""
    where = pc.fill_null(where, False)
    if not pc.any(where).as_py():
        return text
    return pc.replace_with_mask(text, where, _each(column.filter(where), exact))
