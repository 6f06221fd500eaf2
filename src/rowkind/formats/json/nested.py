"""JSON tokens to Arrow columns of any type: objects, arrays and maps are opened by DuckDB, a whole column at a time."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Protocol

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from rowkind.formats.duck import compute, literal
from rowkind.formats.json.cells import JsonReading
from rowkind.formats.json.token_columns import scalar_column, zeros
from rowkind.formats.row_schema import relaxed
from rowkind.formats.spans import Bools, Ints, valid
from rowkind.types import DataType, Field, Root, arrow_type, map_members


@dataclass(slots=True)
class Doubts:
    """What has been noticed about messages while their values were read, one flag a message."""

    odd: Bools
    """The exact path must read it."""
    lenient: Bools
    """Holds something whose syntax only the whole message can show."""
    zero: Bools
    """Holds a 0 that may have been -0, where that makes a difference."""

    @classmethod
    def none(cls, messages: int) -> Doubts:
        return cls(*(np.zeros(messages, np.bool_) for _ in range(3)))


class Reader(Protocol):
    def read(self, tokens: pa.StringArray, messages: Ints, doubts: Doubts) -> pa.Array:
        """The column of these tokens; `messages` says to which message each belongs."""
        ...


def reader(type: DataType, reading: JsonReading) -> Reader:
    match type.root:
        case Root.ROW:
            return _Rows(type, reading)
        case Root.ARRAY:
            return _Lists(type, reading)
        case Root.MAP | Root.MULTISET:
            return _Maps(type, reading)
        case _:
            return _Scalars(type, reading)


@dataclass(frozen=True, slots=True)
class _Scalars:
    type: DataType
    reading: JsonReading

    def read(self, tokens: pa.StringArray, messages: Ints, doubts: Doubts) -> pa.Array:
        column, odd = scalar_column(tokens, self.type, self.reading.standard)
        doubts.odd[messages[odd]] = True
        doubts.zero[messages[zeros(tokens, self.type)]] = True
        return column


class Objects:
    """Reads the fields of a column of objects."""

    def __init__(self, fields: Sequence[Field], reading: JsonReading) -> None:
        self._names = [f.name for f in fields]
        self._readers = [reader(f.type, reading) for f in fields]
        self._all_needed = reading.fail_on_missing
        self._groups = _groups(self._names)
        self._verdict = lru_cache(maxsize=10_000)(self._judge)

    def read(self, texts: pa.StringArray, messages: Ints, doubts: Doubts) -> list[pa.Array]:
        structures = [_structure([self._names[i] for i in group]) for group in self._groups]
        *structs, keys = compute(texts, *structures, "len(json_keys(t))")
        tokens: dict[int, pa.StringArray] = {}
        for group, struct in zip(self._groups, structs, strict=True):
            tokens |= dict(zip(group, struct.flatten(), strict=True))
        found = sum(valid(t).astype(np.int64) for t in tokens.values())
        # As many keys as fields found: each is there once, and nothing else is.
        other = (keys.to_numpy() != found) | (self._all_needed & (found < len(self._names)))
        self._look_at_keys(texts, np.flatnonzero(other), messages, doubts)
        return [r.read(tokens[i], messages, doubts) for i, r in enumerate(self._readers)]

    def _look_at_keys(self, texts: pa.StringArray, rows: Ints, messages: Ints, doubts: Doubts) -> None:
        if not len(rows):
            return
        keys = compute(taken(texts, rows), "CAST(to_json(json_keys(t)) AS VARCHAR)")[0].dictionary_encode()
        verdicts = np.array([self._verdict(k) for k in keys.dictionary.to_pylist()], np.bool_)
        verdict = verdicts[keys.indices.to_numpy()]
        doubts.odd[messages[rows[~verdict[:, 0]]]] = True
        doubts.lenient[messages[rows[verdict[:, 1]]]] = True

    def _judge(self, keys: str) -> tuple[bool, bool]:
        """Whether an object with these keys can be taken, and whether it holds more than the fields."""
        names = orjson.loads(keys)
        known = [name for name in names if name in self._names]
        complete = len(known) == len(self._names) or not self._all_needed
        return len(known) == len(set(known)) and complete, len(known) < len(names)


def _groups(names: Sequence[str]) -> list[list[int]]:
    """Fields that DuckDB can read in one go: within a group, names differ by more than their case."""
    groups: list[dict[str, int]] = []
    for index, name in enumerate(names):
        group = next((g for g in groups if name.lower() not in g), None)
        if group is None:
            groups.append(group := {})
        group[name.lower()] = index
    return [list(group.values()) for group in groups]


def _structure(names: Sequence[str]) -> str:
    return f"from_json(t, {literal(json.dumps(dict.fromkeys(names, 'JSON'), ensure_ascii=False))})"


def taken(array: pa.Array, rows: Ints) -> pa.Array:
    return array if len(rows) == len(array) else array.take(pa.array(rows))


def _opened(tokens: pa.StringArray, bracket: str, messages: Ints, doubts: Doubts) -> Ints:
    """The rows whose token starts with the bracket; any other token but null is odd."""
    fits = np.asarray(pc.starts_with(tokens, bracket).fill_null(False).to_numpy(zero_copy_only=False))
    doubts.odd[messages[valid(tokens) & ~fits]] = True
    doubts.lenient[messages[fits]] = True
    return np.flatnonzero(fits)


def _spread(column: pa.Array, rows: Ints, length: int) -> pa.Array:
    """The column's values at these rows of a longer one, null elsewhere."""
    if len(rows) == length:
        return column
    places = np.zeros(length, np.int64)
    places[rows] = np.arange(len(rows))
    absent = np.ones(length, np.bool_)
    absent[rows] = False
    return column.take(pa.array(places, mask=absent))


class _Rows:
    def __init__(self, type: DataType, reading: JsonReading) -> None:
        self._arrow = arrow_type(relaxed(type))
        self._objects = Objects(type.fields, reading)

    def read(self, tokens: pa.StringArray, messages: Ints, doubts: Doubts) -> pa.Array:
        rows = _opened(tokens, "{", messages, doubts)
        columns = self._objects.read(taken(tokens, rows), messages[rows], doubts)
        return _spread(pa.StructArray.from_arrays(columns, fields=list(self._arrow)), rows, len(tokens))


class _Lists:
    def __init__(self, type: DataType, reading: JsonReading) -> None:
        assert type.element
        self._arrow = arrow_type(relaxed(type))
        self._element = reader(type.element, reading)

    def read(self, tokens: pa.StringArray, messages: Ints, doubts: Doubts) -> pa.Array:
        rows = _opened(tokens, "[", messages, doubts)
        lists = compute(taken(tokens, rows), """from_json(t, '["JSON"]')""")[0]
        at, start, count = _offsets(lists)
        owners = messages[rows].repeat(np.diff(at))
        elements = self._element.read(lists.values.slice(start, count), owners, doubts)
        return _spread(pa.ListArray.from_arrays(pa.array(at), elements, type=self._arrow), rows, len(tokens))


class _Maps:
    def __init__(self, type: DataType, reading: JsonReading) -> None:
        self._arrow = arrow_type(relaxed(type))
        self._value = reader(map_members(type)[1], reading)

    def read(self, tokens: pa.StringArray, messages: Ints, doubts: Doubts) -> pa.Array:
        rows = _opened(tokens, "{", messages, doubts)
        maps = compute(taken(tokens, rows), """from_json(t, '"MAP(VARCHAR, JSON)"')""")[0]
        # DuckDB makes NULL of an object with duplicate keys.
        doubts.odd[messages[rows[~valid(maps)]]] = True
        rows, maps = rows[valid(maps)], maps.drop_null()
        at, start, count = _offsets(maps)
        owners = messages[rows].repeat(np.diff(at))
        values = self._value.read(maps.items.slice(start, count), owners, doubts)
        built = pa.MapArray.from_arrays(pa.array(at), maps.keys.slice(start, count), values, type=self._arrow)
        return _spread(built, rows, len(tokens))


def _offsets(lists: pa.Array) -> tuple[np.ndarray[Any, np.dtype[np.int32]], int, int]:
    """Offsets of the lists' members counted from the first one, and where the members start, and how many they are."""
    at = lists.offsets.to_numpy()
    return at - at[0], int(at[0]), int(at[-1] - at[0])
