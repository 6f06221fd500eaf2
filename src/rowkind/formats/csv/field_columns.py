"""Columns of csv text to columns of values, whole arrays at a time.

Each reader takes only shapes of text for which Arrow's cast is proved equal to `field_values`; the mask it returns is
False for every other text, and those rows are read the exact way.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats.csv.csv_dialect import Dialect
from rowkind.formats.text import from_base64
from rowkind.types import CHARACTERS, DataType, Root, arrow_type

Column = tuple[pa.Array, pa.BooleanArray | None]
"""Values, and where they hold; None when all do. What does not hold is null."""

_YEAR = r"(?:1[6-9]|[2-9][0-9])[0-9]{2}"
_DAY = r"(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)|(?:0[13578]|1[02])-31)"
_DATE = f"{_YEAR}-{_DAY}"
_CLOCK = "(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
_LIMITS = {Root.TINYINT: 1 << 7, Root.SMALLINT: 1 << 15, Root.INT: 1 << 31}
_FLOAT = r"-?[0-9]{1,17}(?:\.[0-9]{1,25})?(?:[eE][+-]?[0-9]%s)?"
_BASE64 = "(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"


def read_column(text: pa.StringArray, type: DataType, dialect: Dialect) -> Column:
    """A column of fields as values of its type."""
    match type.root:
        case Root.ARRAY:
            return _array(text, type, dialect)
        case Root.ROW:
            return _row(text, type, dialect)
        case _:
            return _element(text, type, dialect)


def _element(text: pa.StringArray, type: DataType, dialect: Dialect) -> Column:
    null = None if dialect.null is None else pc.equal(text, dialect.null)
    if dialect.empty_as_null:
        empty = pc.equal(text, "")
        null = empty if null is None else pc.or_(null, empty)
    if null is not None:
        text = pc.if_else(null, pa.scalar(None, pa.string()), text)
    if type.root in CHARACTERS:
        return text, None
    if type.root is Root.NULL:
        return pa.nulls(len(text)), None
    return _shaped(text, type)


def _shaped(text: pa.StringArray, type: DataType) -> Column:
    shape, convert = _reading(type)
    holds = pc.fill_null(pc.match_substring_regex(text, f"^(?:{shape})$"), True)
    if not pc.all(holds).as_py():
        text = pc.if_else(holds, text, pa.scalar(None, pa.string()))
    try:
        values = convert(text)
    except pa.ArrowInvalid:
        return pa.nulls(len(text), arrow_type(type)), pa.repeat(False, len(text))
    if type.root in _LIMITS:
        return _in_range(values, holds, type)
    return values, holds


def _in_range(values: pa.Int64Array, holds: pa.BooleanArray, type: DataType) -> Column:
    limit = _LIMITS[type.root]
    fits = pc.fill_null(pc.and_(pc.greater_equal(values, -limit), pc.less(values, limit)), True)
    if not pc.all(fits).as_py():
        values = pc.if_else(fits, values, pa.scalar(None, pa.int64()))
        holds = pc.and_(holds, fits)
    return values.cast(arrow_type(type)), holds


def _reading(type: DataType) -> tuple[str, Callable[[pa.StringArray], pa.Array]]:
    """The shape of text that is read fast, as a regular expression, and how."""
    arrow = arrow_type(type)
    match type.root:
        case Root.BOOLEAN:
            return "true|false", lambda text: pc.equal(text, "true")
        case Root.FLOAT:
            return _FLOAT % "", lambda text: text.cast(arrow)
        case Root.DOUBLE:
            return _FLOAT % "{1,2}", lambda text: text.cast(arrow)
        case Root.DECIMAL:
            return _decimal_shape(type), lambda text: text.cast(arrow)
        case Root.BINARY | Root.VARBINARY:
            return _BASE64, _from_base64
        case Root.DATE:
            return _DATE, lambda text: text.cast(arrow)
        case Root.TIME:
            return rf"{_CLOCK}(?:\.[0-9]{{1,9}})?", lambda text: _time(text, type.precision or 0)
        case Root.TIMESTAMP:
            return rf"{_DATE} {_CLOCK}(?:\.[0-9]{{1,6}})?", lambda text: text.cast(arrow)
        case Root.TIMESTAMP_LTZ:
            return rf"{_DATE} {_CLOCK}(?:\.[0-9]{{1,6}})?Z", lambda text: text.cast(arrow)
        case _:
            return "-?[0-9]{1,18}", lambda text: text.cast(pa.int64())


def _decimal_shape(type: DataType) -> str:
    precision, scale = type.precision or 0, type.scale or 0
    whole = f"[0-9]{{1,{precision - scale}}}" if precision > scale else "0"
    return rf"-?{whole}(?:\.[0-9]{{1,{scale}}})?" if scale else f"-?{whole}"


def _from_base64(text: pa.StringArray) -> pa.BinaryArray:
    return pa.array([None if t is None else from_base64(t) for t in text.to_pylist()], pa.binary())


def _time(text: pa.StringArray, precision: int) -> pa.Array:
    moment = pc.binary_join_element_wise("1970-01-01 ", text, "").cast(pa.timestamp("ns")).cast(pa.int64())
    unit = 10 ** (9 - min(precision, 3))
    return pc.multiply(pc.divide(moment, unit), unit).cast(pa.time64("ns"))


def _array(text: pa.StringArray, type: DataType, dialect: Dialect) -> Column:
    assert type.element
    parts, filled = _parts(text, dialect)
    values, holds = _element(parts.flatten(), type.element, dialect)
    lists = pa.ListArray.from_arrays(parts.offsets, values, arrow_type(type))
    return lists, pc.and_(filled, _whole_lists(parts, holds))


def _row(text: pa.StringArray, type: DataType, dialect: Dialect) -> Column:
    parts, holds = _parts(text, dialect)
    width = len(type.fields)
    holds = pc.and_(holds, pc.fill_null(pc.equal(pc.list_value_length(parts), width), True))
    if not pc.all(holds).as_py():
        parts = pc.if_else(holds, parts, pa.scalar([""] * width, parts.type))
    members = []
    for i, field in enumerate(type.fields):
        values, fine = _element(pc.list_element(parts, i), field.type, dialect)
        members.append(values)
        holds = holds if fine is None else pc.and_(holds, fine)
    return pa.StructArray.from_arrays(members, fields=list(arrow_type(type)), mask=parts.is_null()), holds


def _parts(text: pa.StringArray, dialect: Dialect) -> tuple[Any, pa.BooleanArray]:
    """The parts of joined text, none where it is empty; and where it is not blank, which the exact way looks at."""
    empty = pc.equal(text, "")
    filled = pc.or_(empty, pc.match_substring_regex(text, r"[^\x00-\x20]"))
    return pc.split_pattern(pc.if_else(empty, pa.scalar(None, pa.string()), text), dialect.elements), filled


def _whole_lists(parts: Any, holds: pa.BooleanArray | None) -> pa.BooleanArray | bool:
    """Where every element of a list holds."""
    if holds is None or pc.all(holds).as_py():
        return pa.scalar(True)
    rows = pc.list_parent_indices(parts).filter(pc.invert(holds))
    return pc.invert(pc.is_in(pa.array(range(len(parts)), rows.type), rows))
