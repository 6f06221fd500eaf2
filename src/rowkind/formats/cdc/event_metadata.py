"""Metadata of change events: which field of the envelope each key is read from, and what is made of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats import text as java
from rowkind.formats.spans import Bools, valid
from rowkind.formats.temporal import TimestampStandard, parse_timestamp
from rowkind.formats.temporal_columns import temporal_column
from rowkind.types import STRING, DataType, Field, map_of, timestamp

Made = tuple[pa.Array, Bools]
"""A column, and where the event holds something that cannot be made into it."""
INSTANT = pa.timestamp("us", "UTC")
PROPERTIES = map_of(STRING, STRING)
_LARGEST = (2**63 - 1) // 1000


@dataclass(frozen=True, slots=True)
class Key:
    """One metadata key."""

    type: DataType
    field: Field
    """What is read of the envelope."""
    make: Callable[[pa.Array], Made]


def as_it_is(column: pa.Array) -> Made:
    return column, np.zeros(len(column), np.bool_)


def millis(column: pa.Int64Array) -> Made:
    """An instant from milliseconds since the epoch."""
    return _scaled(column, 1000)


def seconds(column: pa.Int64Array) -> Made:
    """An instant from seconds since the epoch."""
    return _scaled(column, 1_000_000)


def _scaled(column: pa.Int64Array, factor: int) -> Made:
    most = _LARGEST * 1000 // factor
    beyond = pc.or_(pc.greater(column, most), pc.less(column, -most)).fill_null(False)
    within = pc.if_else(beyond, pa.scalar(None, pa.int64()), column)
    return pc.multiply(within, factor).cast(INSTANT), np.asarray(beyond.to_numpy(zero_copy_only=False), np.bool_)


def member(*names: str) -> Callable[[pa.Array], Made]:
    """A member of a map of texts: the first of these names that is there."""

    def make(column: pa.MapArray) -> Made:
        return as_it_is(pc.coalesce(*(_looked_up(column, name) for name in names)))

    return make


def member_millis(name: str) -> Callable[[pa.Array], Made]:
    """An instant from a member that holds milliseconds as text."""

    def make(column: pa.MapArray) -> Made:
        texts = _looked_up(column, name)
        if pc.all(pc.match_substring_regex(texts, "^-?[0-9]{1,15}$")).as_py() is not False:
            return millis(texts.cast(pa.int64()))
        numbers, odd = _each(texts, pa.int64(), java.integer, lambda v: -(2**63) <= v < 2**63)
        instants, beyond = millis(numbers)
        return instants, odd | beyond

    return make


def _looked_up(column: pa.MapArray, name: str) -> pa.StringArray:
    return pc.map_lookup(column, pa.scalar(name), "last")


def wall_clock(column: pa.StringArray) -> Made:
    """An instant from a local date and time, taken as UTC, with a blank or a T in its middle."""
    iso = pc.match_substring_regex(column, "^[0-9-]{10}T")
    texts = pc.if_else(iso, pc.utf8_replace_slice(column, 10, 11, " "), column)
    made, odd = temporal_column(texts, timestamp(6), TimestampStandard.SQL, quote="")
    if odd.any():
        mask = pa.array(odd)
        read, wrong = _each(texts.filter(mask), pa.int64(), lambda v: parse_timestamp(v, TimestampStandard.SQL, False))
        made = pc.replace_with_mask(made.view(pa.int64()), mask, read).view(pa.timestamp("us"))
        odd[np.flatnonzero(odd)] = wrong
    return made.view(pa.int64()).cast(INSTANT), odd


def _each(
    texts: pa.StringArray,
    type: pa.DataType,
    parse: Callable[[str], int],
    fits: Callable[[int], bool] = lambda value: True,
) -> Made:
    """Every distinct text parsed once; what cannot be parsed is NULL and odd."""
    encoded = texts.dictionary_encode()
    values = [_or_none(t, parse, fits) for t in encoded.dictionary.to_pylist()]
    column = pa.array(values, type).take(encoded.indices)
    return column, valid(texts) & ~valid(column)


def _or_none(text: str, parse: Callable[[str], int], fits: Callable[[int], bool]) -> int | None:
    try:
        value = parse(text)
    except ValueError:
        return None
    return value if fits(value) else None
