"""How each part of an Avro datum is read: as a column of many datums at once, and as one value, the exact way.

A node without a `finish` skips its part: the writer has it, the reader does not want it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pyarrow as pa

from rowkind.formats.avro.cursor import SLOW, Cursor
from rowkind.formats.avro.datum import MOST_EMPTY, Datum
from rowkind.formats.spans import Ints

ROUNDS = 64
"""Elements of one array that are read in step; longer ones are read row by row."""


class Node(Protocol):
    """A part of a datum."""

    def column(self, cursor: Cursor) -> pa.Array | None:
        """This part of all datums, null where a datum has failed; None when it is skipped."""
        ...

    def value(self, datum: Datum) -> Any:
        """This part of one datum, as `pyarrow.array` takes it."""
        ...


@dataclass(frozen=True, slots=True)
class Finish:
    """From what is on the wire to what a column holds, both ways of reading."""

    column: Callable[[Any, Cursor], pa.Array]
    value: Callable[[Any], Any]


@dataclass(slots=True)
class Nothing:
    """`null`: no bytes."""

    type: pa.DataType | None

    def column(self, cursor: Cursor) -> pa.Array | None:
        return None if self.type is None else pa.nulls(len(cursor), self.type)

    def value(self, datum: Datum) -> Any:
        return None


@dataclass(slots=True)
class Mismatch:
    """A part that cannot be read as the table wants it; an error only in datums that have it."""

    type: pa.DataType | None
    reason: str

    def column(self, cursor: Cursor) -> pa.Array | None:
        cursor.fail(cursor.alive, self.reason)
        return None if self.type is None else pa.nulls(len(cursor), self.type)

    def value(self, datum: Datum) -> Any:
        raise ValueError(self.reason)


@dataclass(slots=True)
class Boolean:
    finish: Finish | None

    def column(self, cursor: Cursor) -> pa.Array | None:
        at = cursor.advance(1)
        return self.finish.column(cursor.block.bytes[at] == 1, cursor) if self.finish else None

    def value(self, datum: Datum) -> Any:
        value = datum.take(1) == b"\x01"
        return self.finish.value(value) if self.finish else None


@dataclass(slots=True)
class Integer:
    bits: int
    finish: Finish | None

    def column(self, cursor: Cursor) -> pa.Array | None:
        values = cursor.int32() if self.bits == 32 else cursor.int64()
        return self.finish.column(values, cursor) if self.finish else None

    def value(self, datum: Datum) -> Any:
        value = datum.int32() if self.bits == 32 else datum.int64()
        return self.finish.value(value) if self.finish else None


@dataclass(slots=True)
class Floating:
    type: str
    """numpy's name: <f4 or <f8."""
    finish: Finish | None

    def column(self, cursor: Cursor) -> pa.Array | None:
        values = cursor.floats(self.type)
        return self.finish.column(values, cursor) if self.finish else None

    def value(self, datum: Datum) -> Any:
        value = float(np.frombuffer(datum.take(int(self.type[-1])), self.type)[0])
        return self.finish.value(value) if self.finish else None


@dataclass(slots=True)
class Bytes:
    """Bytes and strings, after their length, and fixed, which has none."""

    size: int | None
    finish: Finish | None

    def column(self, cursor: Cursor) -> pa.Array | None:
        if self.size is None:
            sizes = cursor.size()
        else:
            sizes = np.full(len(cursor), self.size)
            cursor.fail(cursor.pos + sizes > cursor.ends, "the message ends in the middle of a value")
            sizes = np.where(cursor.alive, sizes, 0)
        starts = cursor.advance(sizes)
        return self.finish.column((starts, sizes), cursor) if self.finish else None

    def value(self, datum: Datum) -> Any:
        data = datum.take(datum.size() if self.size is None else self.size)
        return self.finish.value(data) if self.finish else None


@dataclass(slots=True)
class Enum:
    """A symbol by its number; a symbol the reader does not know is None."""

    symbols: tuple[str | None, ...]
    wanted: bool

    def column(self, cursor: Cursor) -> pa.Array | None:
        index = cursor.int32()
        cursor.fail((index < 0) | (index >= len(self.symbols)), "an enum has no symbol of that number")
        index = np.where(cursor.alive, index, 0)
        unknown = np.array([s is None for s in self.symbols] or [False])
        cursor.fail(unknown[index], "the reader's enum has no such symbol")
        if not self.wanted:
            return None
        return pa.array(self.symbols or [None], pa.string()).take(pa.array(index, mask=~cursor.alive))

    def value(self, datum: Datum) -> Any:
        index = datum.int32()
        if not 0 <= index < len(self.symbols):
            raise ValueError("an enum has no symbol of that number")
        if self.symbols[index] is None:
            raise ValueError("the reader's enum has no such symbol")
        return self.symbols[index]


@dataclass(slots=True)
class Union:
    branches: list[Node] = field(default_factory=list)
    type: pa.DataType | None = None

    def column(self, cursor: Cursor) -> pa.Array | None:
        index = cursor.int32()
        cursor.fail((index < 0) | (index >= len(self.branches)), "a union has no branch of that number")
        alive = cursor.alive
        places: list[Ints] = []
        found: list[pa.Array] = []
        for number, branch in enumerate(self.branches):
            rows = np.flatnonzero((index == number) & alive)
            if len(rows) == len(cursor) > 0:
                return branch.column(cursor)
            if len(rows) == 0 or isinstance(branch, Nothing):
                continue
            part = cursor.part(rows)
            column = branch.column(part)
            cursor.join(rows, part)
            if column is not None:
                places.append(rows)
                found.append(column)
        return None if self.type is None else scattered(len(cursor), places, found, self.type)

    def value(self, datum: Datum) -> Any:
        index = datum.int32()
        if not 0 <= index < len(self.branches):
            raise ValueError("a union has no branch of that number")
        return self.branches[index].value(datum)


def scattered(size: int, places: list[Ints], found: list[pa.Array], type: pa.DataType) -> pa.Array:
    """Arrays put to their rows; null elsewhere."""
    if not found:
        return pa.nulls(size, type)
    index = np.full(size, -1, np.int64)
    rows = np.concatenate(places)
    index[rows] = np.arange(len(rows))
    together = found[0] if len(found) == 1 else pa.concat_arrays(found)
    return together.take(pa.array(index, mask=index < 0))


@dataclass(slots=True)
class Record:
    """Fields in the writer's order, each with its place among the reader's; `missing` are values for the others."""

    parts: list[tuple[Node, int | None]] = field(default_factory=list)
    missing: list[tuple[int, Any]] = field(default_factory=list)
    type: pa.StructType | None = None

    def columns(self, cursor: Cursor) -> list[pa.Array]:
        assert self.type is not None
        found: dict[int, pa.Array] = {}
        for node, place in self.parts:
            column = node.column(cursor)
            if place is not None and column is not None:
                found[place] = column
        for place, default in self.missing:
            type = self.type.field(place).type
            found[place] = pa.nulls(len(cursor), type) if default is None else pa.array([default] * len(cursor), type)
        return [found[i] for i in range(self.type.num_fields)]

    def column(self, cursor: Cursor) -> pa.Array | None:
        if self.type is None:
            for node, _ in self.parts:
                if len(cursor):
                    node.column(cursor)
            return None
        columns = self.columns(cursor)
        if not columns:
            return pa.array([{}] * len(cursor), self.type)
        return pa.StructArray.from_arrays(columns, fields=list(self.type))

    def values(self, datum: Datum) -> list[Any]:
        size = 0 if self.type is None else self.type.num_fields
        row: list[Any] = [None] * size
        for node, place in self.parts:
            value = node.value(datum)
            if place is not None:
                row[place] = value
        for place, default in self.missing:
            row[place] = default
        return row

    def value(self, datum: Datum) -> Any:
        values = self.values(datum)
        return None if self.type is None else dict(zip(self.type.names, values, strict=True))


@dataclass(slots=True)
class Blocks:
    """Arrays, and maps as arrays of pairs: blocks of elements, each after its count, up to an empty one."""

    element: Node
    type: pa.DataType | None
    smallest: int
    """The fewest bytes an element takes: a count is checked against what is left of the message."""

    def column(self, cursor: Cursor) -> pa.Array | None:
        places: list[Ints] = []
        found: list[pa.Array] = []
        left = np.zeros(len(cursor), np.int64)
        open = cursor.alive
        for _ in range(ROUNDS):
            self._headers(cursor, left, open)
            rows = np.flatnonzero(left > 0)
            if len(rows) == 0:
                return self._collected(cursor, places, found)
            part = cursor.part(rows)
            column = self.element.column(part)
            cursor.join(rows, part)
            left[rows] = np.where(part.alive, left[rows] - 1, 0)
            open &= cursor.alive
            if column is not None:
                places.append(rows)
                found.append(column)
        cursor.fail(left > 0, SLOW)
        cursor.fail(open, SLOW)
        return self._collected(cursor, places, found)

    def _headers(self, cursor: Cursor, left: Ints, open: Any) -> None:
        """Read the count of the next block where the last one is used up; `open` ends with an empty block."""
        rows = np.flatnonzero(open & (left == 0))
        if len(rows) == 0:
            return
        part = cursor.part(rows)
        count = part.int64()
        sized = np.flatnonzero(count < 0)
        if len(sized):
            inner = part.part(sized)
            inner.int64()
            part.join(sized, inner)
            count[sized] = -count[sized]
        room = part.ends - part.pos
        most = room // self.smallest if self.smallest else MOST_EMPTY
        part.fail((count < 0) | (count > most), "a count is out of range")
        cursor.join(rows, part)
        left[rows] = np.where(part.alive, count, 0)
        open[rows] = left[rows] > 0

    def _collected(self, cursor: Cursor, places: list[Ints], found: list[pa.Array]) -> pa.Array | None:
        if self.type is None:
            return None
        rows = np.concatenate(places) if places else np.zeros(0, np.int64)
        order = np.argsort(rows, kind="stable")
        values = pa.concat_arrays(found).take(pa.array(order)) if found else pa.nulls(0, self._value_type())
        offsets = np.zeros(len(cursor) + 1, np.int32)
        np.cumsum(np.bincount(rows, minlength=len(cursor)), out=offsets[1:])
        if pa.types.is_map(self.type):
            self._check_keys(cursor, np.sort(rows), values.field(0))
            return pa.MapArray.from_arrays(pa.array(offsets), values.field(0), values.field(1), self.type)
        return pa.ListArray.from_arrays(pa.array(offsets), values, self.type)

    def _value_type(self) -> pa.DataType:
        assert self.type is not None
        if pa.types.is_map(self.type):
            return pa.struct([self.type.key_field, self.type.item_field])
        return self.type.value_type

    def _check_keys(self, cursor: Cursor, rows: Ints, keys: pa.StringArray) -> None:
        """A key that comes twice in a map: the exact path keeps the last."""
        if len(rows) == len(np.unique(rows)):
            return
        codes = np.asarray(keys.dictionary_encode().indices).astype(np.int64)
        pairs, counts = np.unique(rows * (codes.max() + 1) + codes, return_counts=True)
        twice = np.zeros(len(cursor), np.bool_)
        twice[pairs[counts > 1] // (codes.max() + 1)] = True
        cursor.fail(twice, SLOW)

    def value(self, datum: Datum) -> Any:
        values: list[Any] = []
        for _ in datum.blocks(self.smallest):
            values.append(self.element.value(datum))
        if self.type is None:
            return None
        if pa.types.is_map(self.type):
            return list({pair["key"]: pair["value"] for pair in values}.items())
        return values
