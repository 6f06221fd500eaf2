"""Columns of scalar JSON tokens to Arrow columns, where a token's shape proves what the exact way makes of it.

A token is the text DuckDB prints for it: strings keep their quotes and have every escape normalised, whole numbers are
as written (but `-0` is printed `0`), other numbers are the shortest text of the same double. NULL is JSON's null, or a
field that is absent.
"""

from __future__ import annotations

from binascii import a2b_base64
from collections.abc import Callable

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats.spans import Bools, spans, valid
from rowkind.formats.temporal import TimestampStandard
from rowkind.formats.temporal_columns import temporal_column
from rowkind.types import DataType, Root, arrow_type

Column = tuple[pa.Array, Bools]
"""The values, and which rows are odd: their value is NULL and the exact way must say what it is."""
_INTEGER = r'^(?:-?[0-9]{1,18}|"-?[0-9]{1,18}")$'
_NUMBER = r"^-?[0-9]"
_OTHER_TEXT = r"^(?:true|false|0|-?[1-9][0-9]*)$"
_BASE64 = r'^"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"$'
_MILLIS = (2**63 - 1) // 1000
MINUS_ZERO = frozenset({Root.FLOAT, Root.DOUBLE, Root.CHAR, Root.VARCHAR})
"""Types for which `-0` is not `0`, which a token does not tell apart."""


def scalar_column(tokens: pa.StringArray, type: DataType, standard: TimestampStandard) -> Column:
    """The column of a scalar type."""
    match type.root:
        case Root.DATE | Root.TIME | Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return temporal_column(tokens, type, standard, quote='"')
        case Root.DECIMAL:
            return _decimals(tokens, type)
        case Root.INTERVAL_DAY_TIME:
            return _durations(tokens)
        case Root.NULL:
            return pa.nulls(len(tokens)), valid(tokens)
        case _:
            return _SCALARS[type.root](tokens, arrow_type(type))


def _only(tokens: pa.StringArray, pattern: str) -> tuple[pa.StringArray, Bools]:
    """The tokens that match, null elsewhere, and which did not match."""
    matches = pc.match_substring_regex(tokens, pattern)
    odd = pc.invert(matches).fill_null(False)
    return pc.if_else(matches, tokens, pa.scalar(None, tokens.type)), _bools(odd)


def _bools(mask: pa.BooleanArray) -> Bools:
    return np.asarray(mask.to_numpy(zero_copy_only=False), np.bool_)


def _without(column: pa.Array, odd: Bools) -> pa.Array:
    return pc.if_else(pa.array(odd), pa.scalar(None, column.type), column) if odd.any() else column


def _integers(tokens: pa.StringArray, type: pa.DataType) -> Column:
    try:
        return tokens.cast(type), np.zeros(len(tokens), np.bool_)
    except pa.ArrowInvalid:
        pass
    shaped, odd = _only(tokens, _INTEGER)
    numbers = pc.ascii_trim(shaped, characters='"').cast(pa.int64())
    limit = 1 << type.bit_width - 1
    beyond = pc.or_(pc.less(numbers, -limit), pc.greater(numbers, limit - 1)).fill_null(False)
    odd |= _bools(beyond)
    return _without(numbers, odd).cast(type), odd


def _durations(tokens: pa.StringArray) -> Column:
    millis, odd = _integers(tokens, pa.int64())
    beyond = pc.greater(pc.abs(millis.cast(pa.float64(), safe=False)), float(_MILLIS // 2)).fill_null(False)
    odd = odd | _bools(beyond)
    return pc.multiply(_without(millis, odd), 1000).view(pa.duration("us")), odd


def _doubles(tokens: pa.StringArray, type: pa.DataType) -> Column:
    try:
        numbers, odd = tokens.cast(type), np.zeros(len(tokens), np.bool_)
    except pa.ArrowInvalid:
        shaped, odd = _only(tokens, _NUMBER)
        numbers = shaped.cast(type)
    # Infinities come from numbers beyond a double; Flink's tree parser has no -0.0 when it reads decimals.
    strange = pc.or_(pc.invert(pc.is_finite(numbers)), pc.equal(tokens, "-0.0")).fill_null(False)
    odd = odd | _bools(strange)
    return _without(numbers, odd), odd


def _floats(tokens: pa.StringArray, type: pa.DataType) -> Column:
    numbers, odd = _doubles(tokens, pa.float64())
    exact = numbers.fill_null(0.0).to_numpy()
    # Rounding twice, from the text to a double and then to a float, can only go wrong in the middle of two floats.
    middle = (exact.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    size = np.abs(exact)
    odd = odd | middle | (size > 3.4e38) | ((size < 2.0**-126) & (exact != 0))
    return _without(numbers, odd).cast(type), odd


def _decimals(tokens: pa.StringArray, type: DataType) -> Column:
    assert type.precision is not None
    assert type.scale is not None
    shaped, odd = _only(tokens, _decimal_shape(type.precision, type.scale))
    return pc.ascii_trim(shaped, characters='"').cast(arrow_type(type)), odd


def _decimal_shape(precision: int, scale: int) -> str:
    """Whole numbers and strings are exact as they stand; a double is up to 15 digits, when none is left to round."""
    shapes = [f"-?{_whole(precision - scale)}"]
    if scale:
        shapes.append(f'"-?{_whole(precision - scale)}[.][0-9]{{1,{scale}}}"')
        if scale < 15:
            shapes.append(f"-?{_whole(min(precision, 15) - scale)}[.][0-9]{{1,{scale}}}")
    shapes.append(f'"-?{_whole(precision - scale)}"')
    return f"^(?:{'|'.join(shapes)})$"


def _whole(digits: int) -> str:
    return f"(?:0|[1-9][0-9]{{0,{digits - 1}}})" if digits > 0 else "0"


def _strings(tokens: pa.StringArray, type: pa.DataType) -> Column:
    plain = pc.starts_with(tokens, '"')
    if pc.all(plain).as_py() is not False:
        return _unescaped(tokens), np.zeros(len(tokens), np.bool_)
    shaped, odd = _only(tokens, f'^"|{_OTHER_TEXT}')
    quoted = _unescaped(pc.if_else(plain, tokens, pa.scalar(None, tokens.type)))
    return pc.if_else(plain, quoted, shaped), odd


def _unescaped(tokens: pa.StringArray) -> pa.StringArray:
    inside = pc.binary_slice(tokens.cast(pa.binary()), 1, -1).view(pa.string())
    if not _holds(tokens, ord("\\")):
        return inside
    escaped = pc.match_substring(tokens, "\\").fill_null(False)
    texts = [orjson.loads(token) for token in tokens.filter(escaped).to_pylist()]
    return pc.replace_with_mask(inside, escaped, pa.array(texts, pa.string()))


def _holds(tokens: pa.StringArray, byte: int) -> bool:
    data, at = spans(tokens)
    return bytes([byte]) in data[at[0] : at[-1]].tobytes()


def _booleans(tokens: pa.StringArray, type: pa.DataType) -> Column:
    yes, no = pc.equal(tokens, "true"), pc.equal(tokens, "false")
    odd = _bools(pc.invert(pc.or_(yes, no)).fill_null(False))
    return _without(yes, odd), odd


def _binaries(tokens: pa.StringArray, type: pa.DataType) -> Column:
    shaped, odd = _only(tokens, _BASE64)
    return pa.array([None if t is None else a2b_base64(t[1:-1]) for t in shaped.to_pylist()], type), odd


_SCALARS: dict[Root, Callable[[pa.StringArray, pa.DataType], Column]] = {
    **dict.fromkeys((Root.TINYINT, Root.SMALLINT, Root.INT, Root.BIGINT, Root.INTERVAL_YEAR_MONTH), _integers),
    **dict.fromkeys((Root.CHAR, Root.VARCHAR), _strings),
    **dict.fromkeys((Root.BINARY, Root.VARBINARY), _binaries),
    Root.BOOLEAN: _booleans,
    Root.DOUBLE: _doubles,
    Root.FLOAT: _floats,
}


def zeros(tokens: pa.StringArray, type: DataType) -> Bools:
    """Rows whose token `0` may have been written `-0`, where that makes a difference."""
    if type.root not in MINUS_ZERO:
        return np.zeros(len(tokens), np.bool_)
    return _bools(pc.equal(tokens, "0").fill_null(False)) & valid(tokens)
