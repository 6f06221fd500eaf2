"""Arrow columns to JSON texts, a column at a time; single values that need more care are written the exact way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats.json.exact_encode import JsonWriting, quoted, text_of
from rowkind.formats.spans import spans
from rowkind.formats.temporal import DAY, TimestampStandard
from rowkind.formats.ticks import entry_lists, ticks
from rowkind.types import DataType, Field, Root, map_members

_ESCAPED = r'["\\\x00-\x1f\x{10000}-\x{10ffff}]'
_FIRST_DAY, _LAST_DAY = -719_528, 2_932_896
"""Years 0000 to 9999: the others carry a sign."""


@dataclass(frozen=True, slots=True)
class Texts:
    """The JSON text of a column's values, NULL where the column is; `quote` still has to be put around each."""

    values: pa.StringArray
    quote: str = ""

    def closed(self) -> pa.StringArray:
        """With quotes, and `null` for NULL."""
        values = _join(self.quote, self.values, self.quote) if self.quote else self.values
        return values.fill_null("null") if values.null_count else values


def _join(*parts: Any) -> pa.StringArray:
    return pc.binary_join_element_wise(*parts, "")


def texts(column: pa.Array, type: DataType, writing: JsonWriting) -> Texts:
    match type.root:
        case Root.CHAR | Root.VARCHAR:
            return _strings(column)
        case Root.FLOAT | Root.DOUBLE:
            return _floating(column, type, writing)
        case Root.DECIMAL:
            return _decimals(column, type, writing)
        case Root.DATE:
            return _dates(column, type, writing)
        case Root.TIME:
            return Texts(_short_fraction(column.cast(pa.time32("ms"), safe=False).cast(pa.string())), '"')
        case Root.TIMESTAMP | Root.TIMESTAMP_LTZ:
            return _timestamps(column, type, writing)
        case Root.ARRAY:
            return _lists(column, type, writing)
        case Root.MAP | Root.MULTISET:
            return _maps(column, type, writing)
        case Root.ROW:
            return Texts(_where(column, object_texts(column.flatten(), type.fields, writing)))
        case Root.BINARY | Root.VARBINARY | Root.NULL | Root.INTERVAL_DAY_TIME:
            return _one_by_one(column, type, writing)
        case _:
            return Texts(column.cast(pa.string()))


def object_texts(columns: Sequence[pa.Array], fields: Sequence[Field], writing: JsonWriting) -> pa.StringArray:
    """One object a row."""
    written = [texts(c, f.type, writing) for c, f in zip(columns, fields, strict=True)]
    names = [f"{quoted(f.name)}:" for f in fields]
    if writing.ignore_nulls:
        return _without_nulls(written, names)
    parts: list[Any] = []
    literal = "{"
    for name, text in zip(names, written, strict=True):
        if text.values.null_count:
            parts += [literal + name, text.closed()]
            literal = ","
        else:
            parts += [literal + name + text.quote, text.values]
            literal = text.quote + ","
    return _join(*parts, literal[:-1] + "}")


def _without_nulls(written: Sequence[Texts], names: Sequence[str]) -> pa.StringArray:
    members = [_join(f",{n}{t.quote}", t.values, t.quote).fill_null("") for n, t in zip(names, written, strict=True)]
    return _join(pc.binary_replace_slice(_join(*members), 0, 1, "{"), "}")


def _where(column: pa.Array, values: pa.StringArray) -> pa.StringArray:
    """The values, NULL where the column is."""
    return pc.if_else(column.is_valid(), values, pa.scalar(None, pa.string())) if column.null_count else values


def _exactly(column: pa.Array, type: DataType, writing: JsonWriting) -> pa.StringArray:
    write = text_of(type, writing)
    return pa.array([write(v).strip('"') for v in ticks(column, type)], pa.string())


def _patched(
    plain: pa.StringArray, odd: pa.BooleanArray, column: pa.Array, type: DataType, writing: JsonWriting
) -> pa.StringArray:
    """The texts, with those of odd values written the exact way."""
    odd = odd.fill_null(False)
    if not pc.any(odd).as_py():
        return plain
    return pc.replace_with_mask(plain, odd, _exactly(column.filter(odd), type, writing))


def _one_by_one(column: pa.Array, type: DataType, writing: JsonWriting) -> Texts:
    quote = '"' if type.root in (Root.BINARY, Root.VARBINARY) else ""
    return Texts(_where(column, _exactly(column, type, writing)), quote)


def _strings(column: pa.StringArray) -> Texts:
    data, at = spans(column)
    used = data[at[0] : at[-1]]
    if not ((used < 0x20) | (used == ord('"')) | (used == ord("\\")) | (used >= 0xF0)).any():
        return Texts(column, '"')
    escaped = pc.match_substring_regex(column, _ESCAPED).fill_null(False)
    inside = [quoted(text)[1:-1] for text in column.filter(escaped).to_pylist()]
    return Texts(pc.replace_with_mask(column, escaped, pa.array(inside, pa.string())), '"')


def _floating(column: pa.Array, type: DataType, writing: JsonWriting) -> Texts:
    size = pc.abs(column.cast(pa.float64()))
    plain = pc.and_(pc.greater_equal(size, 1e-3), pc.less(size, 1e7))
    written = column.cast(pa.string())
    whole = pc.equal(pc.trunc(column), column)
    written = pc.if_else(whole, _join(written, ".0"), written)
    if pc.all(plain).as_py() is not False:
        return Texts(written)
    unquoted = pc.invert(pc.or_(plain, pc.equal(size, 0.0)))
    if not pc.all(pc.is_finite(column)).as_py():
        return Texts(_where(column, _quoted_numbers(column, type, writing)))
    return Texts(_patched(written, unquoted, column, type, writing))


def _quoted_numbers(column: pa.Array, type: DataType, writing: JsonWriting) -> pa.StringArray:
    """A column with NaN or infinities, which are written as strings."""
    return pa.array(map(text_of(type, writing), ticks(column, type)), pa.string())


def _decimals(column: pa.Array, type: DataType, writing: JsonWriting) -> Texts:
    written = column.cast(pa.string())
    scientific = pc.match_substring(written, "E")
    if writing.plain_decimals:
        return Texts(_patched(written, scientific, column, type, writing))
    if type.scale:
        written = pc.ascii_rtrim(pc.ascii_rtrim(written, characters="0"), characters=".")
    # A whole number that ends in zeros is shorter with an exponent.
    tens = pc.and_not(pc.and_(pc.ends_with(written, "0"), pc.not_equal(written, "0")), pc.match_substring(written, "."))
    return Texts(_patched(written, pc.or_(tens, scientific), column, type, writing))


def _dates(column: pa.Array, type: DataType, writing: JsonWriting) -> Texts:
    days = column.view(pa.int32())
    odd = pc.or_(pc.less(days, _FIRST_DAY), pc.greater(days, _LAST_DAY))
    return Texts(_patched(column.cast(pa.string()), odd, column, type, writing), '"')


def _timestamps(column: pa.Array, type: DataType, writing: JsonWriting) -> Texts:
    micros = column.view(pa.int64())
    odd = pc.or_(pc.less(micros, _FIRST_DAY * DAY), pc.greater_equal(micros, (_LAST_DAY + 1) * DAY)).fill_null(False)
    usual = pc.if_else(odd, 0, micros) if pc.any(odd).as_py() else micros
    written = _short_fraction(usual.view(pa.timestamp("us")).cast(pa.string()))
    if writing.standard is TimestampStandard.ISO_8601:
        written = pc.binary_replace_slice(written, 10, 11, "T")
    if type.root is Root.TIMESTAMP_LTZ:
        written = _join(written, "Z")
    return Texts(_patched(written, odd, column, type, writing), '"')


def _short_fraction(written: pa.StringArray) -> pa.StringArray:
    """Every text has a fraction of fixed length: its trailing zeros go, and its point when nothing is left."""
    return pc.ascii_rtrim(pc.ascii_rtrim(written, characters="0"), characters=".")


def _lists(column: pa.ListArray, type: DataType, writing: JsonWriting) -> Texts:
    assert type.element
    return _bracketed(column, texts(column.flatten(), type.element, writing).closed(), "[", "]")


def _maps(column: pa.MapArray, type: DataType, writing: JsonWriting) -> Texts:
    key, value = map_members(type)
    entries = entry_lists(column).flatten()
    keys = entries.field(0)
    if keys.null_count or _repeated(column, keys):
        return Texts(_where(column, pa.array(map(text_of(type, writing), ticks(column, type)), pa.string())))
    members = _join(texts(keys, key, writing).closed(), ":", texts(entries.field(1), value, writing).closed())
    return _bracketed(column, members, "{", "}")


def _repeated(column: pa.MapArray, keys: pa.StringArray) -> bool:
    """Whether a map has the same key twice."""
    lengths = np.diff(_offsets(column))
    if not len(lengths) or lengths.max() < 2:
        return False
    codes = keys.dictionary_encode()
    numbered = np.repeat(np.arange(len(lengths)), lengths) * (len(codes.dictionary) + 1) + codes.indices.to_numpy()
    return len(np.unique(numbered)) < len(numbered)


def _bracketed(column: pa.Array, members: pa.StringArray, left: str, right: str) -> Texts:
    lists = pa.ListArray.from_arrays(pa.array(_offsets(column)), members)
    return Texts(_where(column, _join(left, pc.binary_join(lists, ","), right)))


def _offsets(column: pa.Array) -> np.ndarray[Any, np.dtype[np.int32]]:
    """Offsets of the members of all lists that are not NULL, as `flatten` gives them."""
    lengths = np.diff(column.offsets.to_numpy())
    lengths[~np.asarray(column.is_valid().to_numpy(zero_copy_only=False), np.bool_)] = 0
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
